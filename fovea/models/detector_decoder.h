#pragma once
// The decoder of the detector: DETR's (Carion et al. 2020), whose queries are the cells that the
// dense head is surest of (as the second stage of Zhu et al. 2021) with their boxes. It refines the
// boxes and learns to keep one for each thing, so that nothing needs suppressing afterwards.
// Thread-safety: const calls from several threads are safe while nobody trains the parameters.
#include <vector>

#include "fovea/models/detector.h"
#include "fovea/models/set_loss.h"

namespace fovea {

struct DetectorQueries {
    Ids rows;                     // cells, picture by picture
    Segments segments;            // one a picture, named as the cells are
    std::vector<ShareBox> boxes;  // that the dense head gave them
};

// The surest cells of each picture whose boxes do not nearly agree. What is chosen is data: no
// gradient flows into the choice.
DetectorQueries queries_of(const DenseHead& dense, const DenseOutput& out, const CellRows& cells);

// Pre-norm; p and m are the codes of where the queries and the cells are:
//   q' = q + MultiHead(LN(q) + p, LN(q) + p, LN(q))
//   q" = q' + MultiHead(LN(q') + p, x + m, x)      y = q" + FFN(LN(q"))
struct DetectorDecoderLayer {
    DetectorDecoderLayer(const DetectorConfig& c, const Params& p);

    struct Sights {
        const Visibility& queries;  // each other
        const Visibility& cells;
    };
    Tensor operator()(const Tensor& q, const Tensor& place, const CellRows& cells,
                      const Sights& sees) const;

    LayerNorm norm1, norm2, norm3;
    MultiHeadAttention self_attention, cross_attention;
    Linear fc1, fc2;
    float dropout;
};

struct DetectorDecoder {
    DetectorDecoder(const DetectorConfig& c, int labels, const Params& p);

    // What each layer says of the queries.
    std::vector<SetPredictions> operator()(const CellRows& cells,
                                           const DetectorQueries& queries) const;
    Tensor loss(const CellRows& cells, const DetectorQueries& queries,
                std::span<const PictureThings> things) const;
    std::vector<std::vector<ScoredBox>> scored(const CellRows& cells,
                                               const DetectorQueries& queries, float least) const;

    DetectorConfig config;
    Linear content, place;
    std::vector<DetectorDecoderLayer> layers;
    LayerNorm norm;
    Tensor class_weight, class_bias, box_weight, box_bias;

private:
    SetPredictions said(const Tensor& q, const DetectorQueries& queries) const;
};

// `of_queries`: their rows are those of queries, which they tell.
std::vector<FoundThing> found_things(const std::vector<ScoredBox>& boxes, bool of_queries);

}  // namespace fovea
