#pragma once
// The scores of Unigram pieces as Hugging Face's tokenizers reads them. Its JSON library
// (serde_json, without float_roundtrip) takes all digits as one whole number, makes that a double
// and divides by a power of ten: of numbers with 17 digits one in seven comes out one unit in the
// last place off. Where two ways to cut a text have equal sums, that unit decides between them.
namespace fovea::text {

// What that library makes of the shortest decimal text of `exact` (files are written in it).
// What it gives is given back unchanged: a number once read survives writing and reading.
double as_tokenizers_reads(double exact);

}  // namespace fovea::text
