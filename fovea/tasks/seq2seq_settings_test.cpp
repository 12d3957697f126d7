#include "fovea/tasks/seq2seq_settings.h"

#include <gtest/gtest.h>

#include "fovea/base/error.h"

namespace fovea {
namespace {

TEST(Seq2SeqSettings, TasksHaveTheirOwnLimitsAndSearch) {
    const Seq2SeqTraining translate = seq2seq_defaults("translate", "tiny"),
                          summarise = seq2seq_defaults("summarise", "base");
    EXPECT_EQ(translate.config.d_model, 128);
    EXPECT_EQ(translate.limits.source, 256);
    EXPECT_EQ(translate.search.beam, 5);
    EXPECT_EQ(summarise.config.d_model, 512);
    EXPECT_TRUE(summarise.limits.cut_source);
    EXPECT_EQ(summarise.search.no_repeat_ngram, 3);
    EXPECT_EQ(summarise.search.max_length, 128);
}

TEST(Seq2SeqSettings, RatesFollowTheWidthUnlessGiven) {
    TrainOptions small, large, noam, given;
    noam.schedule.kind = ScheduleKind::noam;
    given.schedule.peak = 0.5;
    fit_rates(small, 128);
    fit_rates(large, 512);
    fit_rates(noam, 512);
    fit_rates(given, 512);
    EXPECT_EQ(small.schedule.peak, 1e-3);
    EXPECT_EQ(small.usual_warmup, 1000);
    EXPECT_EQ(large.schedule.peak, 7e-4);
    EXPECT_EQ(large.usual_warmup, 4000);
    EXPECT_EQ(noam.schedule.peak, 1);
    EXPECT_EQ(given.schedule.peak, 0.5);
}

TEST(Seq2SeqSettings, WrongValuesNameTheirFlag) {
    Seq2SeqTraining good = seq2seq_defaults("translate", "tiny");
    good.run.steps = 10;
    EXPECT_NO_THROW(good.check());
    struct Case {
        const char* flag;
        void (*spoil)(Seq2SeqTraining&);
    };
    for (const Case& c :
         {Case{"--heads 3", [](Seq2SeqTraining& t) { t.config.encoder_attention_heads = 3; }},
          Case{"--dropout", [](Seq2SeqTraining& t) { t.config.dropout = 1; }},
          Case{"--smoothing", [](Seq2SeqTraining& t) { t.smoothing = -1; }},
          Case{"--max-tokens", [](Seq2SeqTraining& t) { t.batches.max_tokens = 0; }},
          Case{"--keep", [](Seq2SeqTraining& t) { t.run.keep = 0; }},
          Case{"--patience", [](Seq2SeqTraining& t) {
                   t.split_dev = false;
                   t.run.patience = 2;
               }}}) {
        Seq2SeqTraining t = good;
        c.spoil(t);
        try {
            t.check();
            ADD_FAILURE() << c.flag;
        } catch (const Error& e) {
            EXPECT_EQ(e.kind(), ErrorKind::usage);
            EXPECT_NE(std::string(e.what()).find(c.flag), std::string::npos) << e.what();
        }
    }
}

}  // namespace
}  // namespace fovea
