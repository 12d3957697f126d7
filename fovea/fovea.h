#pragma once
// The whole library: #include <fovea/fovea.h>, link fovea::fovea (CMake) or `pkg-config fovea`.
// What this page reaches is the public interface and all that is installed (cmake/install.cmake);
// everything else is the rooms' own business. Rooms from the ground up; a single header is as good,
// and compiles faster.

// base: what everything stands on
#include "fovea/base/error.h"      // fovea::Error: what is wrong, where, and the way out
#include "fovea/base/files.h"      // whole files in and out; writes are atomic
#include "fovea/base/json.h"       // JSON from outside, read strictly
#include "fovea/base/precision.h"  // f32 or bf16 products, for a scope
#include "fovea/base/rng.h"        // random numbers that are nothing but (seed, purpose, position)
#include "fovea/base/settings.h"   // named settings over the fields of a struct
#include "fovea/base/threads.h"    // the one pool of compute threads, and its size

// tensor: data, and who sees whom
#include "fovea/tensor/memory.h"           // how much memory tensors hold
#include "fovea/tensor/name_rules.h"       // from a checkpoint's names to a model's, and back
#include "fovea/tensor/parameter_store.h"  // all parameters of a model by name
#include "fovea/tensor/ragged.h"           // rows of different lengths
#include "fovea/tensor/segments.h"         // sequences laid end to end
#include "fovea/tensor/tensor.h"           // a cheap handle to dense row-major data
#include "fovea/tensor/token_batch.h"      // token sequences laid end to end
#include "fovea/tensor/visibility.h"       // which keys each query may read

// autograd: a living Tape means training
#include "fovea/autograd/gradients.h"  // gradients as a value
#include "fovea/autograd/tape.h"       // records ops, walks back

// ops: differentiable functions
#include "fovea/ops/activation.h"                 // activations on their own
#include "fovea/ops/arithmetic.h"                 // sums and products of whole tensors
#include "fovea/ops/attention/attention.h"        // attention, attention_hard, pointer_scores
#include "fovea/ops/attention/probe.h"            // keeps the maps of a scope's attention
#include "fovea/ops/batch_norm.h"                 // columns over the rows of a batch
#include "fovea/ops/conv.h"                       // convolutions
#include "fovea/ops/conv2d.h"                     // convolutions over the rows of pictures
#include "fovea/ops/crf.h"                        // linear chains of tags
#include "fovea/ops/drop_path.h"                  // leaves layers out, sample by sample
#include "fovea/ops/dropout.h"                    // dropout
#include "fovea/ops/linear.h"                     // matrix products
#include "fovea/ops/loss/cross_entropy.h"         // losses over classes
#include "fovea/ops/loss/linear_cross_entropy.h"  // the same, without storing the logits
#include "fovea/ops/loss/loss.h"                  // losses of value against value
#include "fovea/ops/loss/picture_loss.h"          // losses of boxes, centres and masks
#include "fovea/ops/norm.h"                       // layer_norm, rms_norm
#include "fovea/ops/optimizer.h"                  // one update of one parameter
#include "fovea/ops/recompute.h"                  // activation checkpointing
#include "fovea/ops/resize.h"                     // pictures at another size
#include "fovea/ops/rows/concat.h"                // together and apart, by rows and columns
#include "fovea/ops/rows/gather.h"                // rows by number: embeddings
#include "fovea/ops/rows/pooling.h"               // one row for each sequence
#include "fovea/ops/rows/positions.h"             // where a row stands in its sequence
#include "fovea/ops/rows/top_k.h"                 // the best tokens of a row of logits
#include "fovea/ops/softmax.h"                    // softmax on its own

// nn: parts that own parameters
#include "fovea/nn/crf.h"                   // what tags say about each other
#include "fovea/nn/init.h"                  // how new parameters begin
#include "fovea/nn/kv_cache.h"              // keys and values while decoding
#include "fovea/nn/layer_norm.h"            // LayerNorm
#include "fovea/nn/linear.h"                // Linear
#include "fovea/nn/multi_head_attention.h"  // MultiHeadAttention
#include "fovea/nn/params.h"                // a path into a parameter store
#include "fovea/nn/pooling.h"               // from rows to one vector, in seven ways
#include "fovea/nn/positions.h"             // position codes
#include "fovea/nn/self_attention.h"        // with the position codes that live inside of it

// models: one file pair a paper
#include "fovea/models/bag.h"                 // the mean of word and n-gram vectors
#include "fovea/models/bert.h"                // the encoder of Devlin et al. 2018
#include "fovea/models/convolution.h"         // windows over word vectors (Kim 2014)
#include "fovea/models/feature_embedding.h"   // words by what they look like
#include "fovea/models/gpt2.h"                // the decoder of Radford et al. 2019
#include "fovea/models/gpt2_config.h"         // its sizes
#include "fovea/models/reader.h"              // reads a text to answer questions, from scratch
#include "fovea/models/recurrent_words.h"     // a recurrence over the words, both ways
#include "fovea/models/roberta.h"             // Liu et al. 2019: BERT's, trained longer
#include "fovea/models/segformer.h"           // a label for each pixel (Xie et al. 2021)
#include "fovea/models/single_head.h"         // word vectors and one self-attention
#include "fovea/models/span_model.h"          // one value for anything that finds answers in a text
#include "fovea/models/text_encoder.h"        // one value for anything that turns tokens into rows
#include "fovea/models/transformer.h"         // the encoder-decoder of Vaswani et al. 2017
#include "fovea/models/transformer_config.h"  // its sizes
#include "fovea/models/word_model.h"          // what models over word vectors share
#include "fovea/models/word_rows.h"           // weighted-sum and label-query
#include "fovea/models/xlnet.h"               // Yang et al. 2019: tokens told in any order

// text: tokenizers
#include "fovea/text/tokenizer.h"                // text to ids and back
#include "fovea/text/train/train_tokenizer.h"    // trains one like that of a well-known model
#include "fovea/text/train/vocabulary_recipe.h"  // trains one by a plain name

// io: files of weights
#include "fovea/io/checkpoint_folder.h"   // checkpoints that survive kill -9
#include "fovea/io/model_parameters.h"    // from files to a parameter store
#include "fovea/io/model_weights.h"       // the weights of a Hugging Face folder
#include "fovea/io/safetensors.h"         // reading them
#include "fovea/io/safetensors_writer.h"  // writing them

// data: records of somebody's files
#include "fovea/data/batch_plan.h"       // which examples form which batch
#include "fovea/data/check.h"            // what is in a set of pairs
#include "fovea/data/check_labels.h"     // what is in a set of labelled texts
#include "fovea/data/check_questions.h"  // what is in files of questions
#include "fovea/data/check_tags.h"       // what is in files of tagged words
#include "fovea/data/conll.h"            // words with tags
#include "fovea/data/labelled_texts.h"   // texts with labels
#include "fovea/data/pairs.h"            // sources with targets
#include "fovea/data/questions.h"        // questions with their contexts and answers
#include "fovea/data/records.h"          // rows with their place in a file
#include "fovea/data/rewrite.h"          // split and dedupe
#include "fovea/data/split.h"            // which records are held out
#include "fovea/data/word_spans.h"       // the words of plain text

// metrics: how good
#include "fovea/metrics/answers.h"         // exact match and F1 of answers
#include "fovea/metrics/bleu.h"            // BLEU as sacreBLEU computes it
#include "fovea/metrics/chrf.h"            // chrF and chrF++
#include "fovea/metrics/classification.h"  // accuracy, F1, confusions
#include "fovea/metrics/corpus_score.h"    // a corpus by any of them
#include "fovea/metrics/counting.h"        // accuracy, exact match, perplexity
#include "fovea/metrics/detection.h"       // COCO's figures of boxes
#include "fovea/metrics/entities.h"        // precision, recall and F1 of entities
#include "fovea/metrics/masks.h"           // Dice and IoU of masks
#include "fovea/metrics/perplexity.h"      // of a text, and bits per byte
#include "fovea/metrics/resampling.h"      // how sure a score is, and which system is better
#include "fovea/metrics/rouge.h"           // ROUGE
#include "fovea/metrics/tracking.h"        // IDF1 and MOTA of tracks

// infer: search
#include "fovea/infer/beam_search.h"             // over anything that reads prompts and steps
#include "fovea/infer/ensemble_stepper.h"        // several models as one
#include "fovea/infer/kv_history.h"              // which cache rows a hypothesis sees
#include "fovea/infer/language_model_stepper.h"  // a language model as one
#include "fovea/infer/search_options.h"          // greedy, beams, sampling, controls
#include "fovea/infer/stepper.h"                 // what a search needs of a model
#include "fovea/infer/stop_strings.h"            // texts that end at a string
#include "fovea/infer/transformer_stepper.h"     // the Transformer as one

// train: the loop, which knows no model
#include "fovea/train/adamw.h"      // the optimizer
#include "fovea/train/averaging.h"  // averages of parameters
#include "fovea/train/loop.h"       // the training loop
#include "fovea/train/run_plan.h"   // from a budget to a number of updates
#include "fovea/train/schedule.h"   // learning rates

// tasks: data, model, loss, metric and prediction
#include "fovea/tasks/answer.h"         // answer()
#include "fovea/tasks/answer_slots.h"   // ask_slots()
#include "fovea/tasks/average.h"        // the mean of a run's checkpoints
#include "fovea/tasks/classify.h"       // classify()
#include "fovea/tasks/convert.h"        // a model in another format
#include "fovea/tasks/detect.h"         // detect()
#include "fovea/tasks/embed.h"          // sentence_vectors(), nearest_texts()
#include "fovea/tasks/fill.h"           // fill(), follows()
#include "fovea/tasks/generate.h"       // generate(), foretell()
#include "fovea/tasks/image.h"          // classify_pictures()
#include "fovea/tasks/model_folder.h"   // a model as a folder
#include "fovea/tasks/paint.h"          // paint(): pictures, pixel by pixel
#include "fovea/tasks/segment.h"        // segment()
#include "fovea/tasks/seq2seq_model.h"  // Seq2SeqModel: what translate() takes
#include "fovea/tasks/seq2seq_train.h"  // trains one
#include "fovea/tasks/slots.h"          // slots: what a request wants, and with what
#include "fovea/tasks/speech.h"         // Transcriber, transcribe()
#include "fovea/tasks/tag.h"            // tag()
#include "fovea/tasks/task.h"           // the table of tasks
#include "fovea/tasks/track.h"          // track(): things through frames
#include "fovea/tasks/translate.h"      // translate(), score_pairs()
#include "fovea/tasks/vectors.h"        // WordVectorModel, nearest_words()

// inspect: look inside
#include "fovea/inspect/attention_view.h"  // the attention of one example, drawn
