#include "fovea/data/waves.h"

#include <gtest/gtest.h>

#include <cmath>
#include <set>

#include "fovea/base/error.h"
#include "fovea/base/files.h"
#include "fovea/data/check_waves.h"
#include "fovea/data/made_strings.h"
#include "fovea/data/record_shape.h"
#include "fovea/data/wave_augment.h"
#include "fovea/io/test_folder.h"
#include "fovea/io/wav.h"

namespace fovea {
namespace {

void write_tone(const std::string& path, double hertz, std::size_t n = 1600, float loud = 0.5f) {
    Wave w{.sample_rate = 8000, .channels = 1, .samples = std::vector<float>(n)};
    for (std::size_t i = 0; i < n; ++i)
        w.samples[i] = loud * static_cast<float>(std::sin(hertz * static_cast<double>(i) / 1000));
    write_wav(path, w);
}

TEST(Clips, TablesAndFolders) {
    const TestFolder f;
    write_tone(f / "a.wav", 500);
    write_tone(f / "b.wav", 900);
    write_file_atomically(f / "clips.tsv", "a.wav\tone two\nb.wav\tthree\n");
    write_file_atomically(f / "named.csv",
                          "id,speaker,transcript,audio\n1,ann,one,a.wav\n2,bob,two,b.wav\n");
    const ClipSet plain = read_clips({{f / "clips.tsv"}});
    ASSERT_EQ(plain.clips.size(), 2u);
    EXPECT_EQ(plain.clips[0].path, f / "a.wav");
    EXPECT_EQ(plain.clips[0].text, "one two");
    EXPECT_FALSE(plain.classes);
    const ClipSet named = read_clips({{f / "named.csv"}});
    EXPECT_EQ(named.clips[1].text, "two");
    EXPECT_EQ(named.clips[1].speaker, "bob");
    // A header above single words.
    write_file_atomically(f / "words.tsv",
                          "path\ttext\tspeaker\na.wav\tone\tann\nb.wav\ttwo\tbob\n");
    EXPECT_EQ(read_clips({{f / "words.tsv"}}).clips.size(), 2u);
    make_folders(f / "set/yes");
    make_folders(f / "set/no");
    write_tone(f / "set/yes/1.wav", 500);
    write_tone(f / "set/no/1.WAV", 900);
    const ClipSet folder = read_clips({{f / "set"}});
    ASSERT_EQ(folder.clips.size(), 2u);
    EXPECT_TRUE(folder.classes);
    EXPECT_EQ(folder.clips[0].text, "no");
    for (const char* path : {"clips.tsv", "named.csv", "set"}) {
        const auto guess = guess_shape(f / path);
        ASSERT_TRUE(guess.has_value()) << path;
        EXPECT_EQ(guess->shape, RecordShape::sounds) << path;
    }
}

// A folder with a table beside its sounds: the table, not the folders, says what they are.
TEST(Clips, AFolderWithATableInIt) {
    const TestFolder f;
    make_folders(f / "wavs");
    write_tone(f / "wavs/a.wav", 500);
    write_tone(f / "wavs/b.wav", 900);
    const std::string rows = "path\ttext\nwavs/a.wav\tone two\nwavs/b.wav\tthree\n";
    write_file_atomically(f / "strings.tsv", rows);
    write_file_atomically(f / "notes.tsv", "who\twhen\nann\t2020\n");
    EXPECT_EQ(wave_table_in(f.path()), f / "strings.tsv");
    const auto guess = guess_shape(f.path());
    ASSERT_TRUE(guess.has_value());
    EXPECT_EQ(guess->shape, RecordShape::sounds);
    EXPECT_EQ(guess->why, "strings.tsv in it names sounds");
    const ClipSet set = read_clips({{f.path()}});
    ASSERT_EQ(set.clips.size(), 2u);
    EXPECT_EQ(set.clips[0].text, "one two");
    EXPECT_FALSE(set.classes);
    // Of two, the one to learn from; without such a name, none.
    write_file_atomically(f / "train.tsv", rows);
    EXPECT_EQ(wave_table_in(f.path()), f / "train.tsv");
    write_file_atomically(f / "train2.tsv", rows);
    EXPECT_EQ(wave_table_in(f.path()), "");
}

TEST(Clips, WhatIsWrongIsSaid) {
    const TestFolder f;
    write_tone(f / "a.wav", 500);
    const std::pair<const char*, const char*> cases[] = {
        {"a.wav\tone\nmissing.wav\ttwo\n", ":2: there is no sound"},
        {"one\ttwo\nthree\tfour\n", "no column names sounds"},
        {"a.wav\na.wav\n", "no column of transcripts"},
    };
    for (const auto& [text, says] : cases) {
        write_file_atomically(f / "bad.tsv", text);
        try {
            read_clips({{f / "bad.tsv"}});
            ADD_FAILURE() << says;
        } catch (const Error& e) {
            EXPECT_NE(std::string(e.what()).find(says), std::string::npos) << e.what();
            EXPECT_EQ(e.kind(), ErrorKind::bad_input);
            EXPECT_FALSE(e.hint().empty());
        }
    }
}

TEST(WaveCheck, FindsWhatIsWrong) {
    const TestFolder f;
    write_tone(f / "good.wav", 500);
    write_tone(f / "loud.wav", 600, 1600, 9);
    write_tone(f / "still.wav", 500, 1600, 1e-4f);
    write_file_atomically(f / "broken.wav", "RIFFxxxx");
    write_file_atomically(f / "train.tsv",
                          "good.wav\ta\nloud.wav\tb\nstill.wav\tc\nbroken.wav\td\ngood.wav\ta\n");
    write_file_atomically(f / "test.tsv", "good.wav\ta\n");
    const std::vector<NamedClips> sets{{"train", {{f / "train.tsv"}}},
                                       {"test", {{f / "test.tsv"}}}};
    const WaveCheck c = check_waves(sets);
    EXPECT_FALSE(c.clean());
    EXPECT_EQ(c.files[0].clips, 5);
    EXPECT_EQ(c.files[0].unreadable, 1);
    EXPECT_EQ(c.files[0].clipped, 1);
    EXPECT_EQ(c.files[0].silent, 1);
    EXPECT_EQ(c.files[0].repeated, 1);
    EXPECT_EQ(c.files[1].shared, 1);
    EXPECT_NE(c.text().find("1 cannot be read"), std::string::npos) << c.text();
    EXPECT_NE(c.json().find("\"8000\":4"), std::string::npos) << c.json();
    const std::vector<NamedClips> one{{"test", {{f / "test.tsv"}}}};
    EXPECT_TRUE(check_waves(one).clean());
}

TEST(WaveAugment, IsNamedBySeedEpochAndSample) {
    const WaveAugment all;
    const std::vector<float> x(800, 0.25f);
    std::set<std::vector<float>> different;
    for (const std::uint64_t seed : {1, 2})
        for (const std::int64_t epoch : {0, 1})
            for (const std::uint64_t sample : {0, 1}) {
                const WaveDraw d = draw_wave(all, seed, epoch, sample);
                EXPECT_GE(d.speed, 90);
                EXPECT_LE(d.speed, 110);
                EXPECT_GT(d.warp, 0.89);
                EXPECT_LT(d.warp, 1.11);
                EXPECT_EQ(changed_wave(x, d), changed_wave(x, draw_wave(all, seed, epoch, sample)));
                different.insert(changed_wave(x, d));
            }
    EXPECT_EQ(different.size(), 8u);
    const WaveDraw none = draw_wave(WaveAugment::none(), 1, 2, 3);
    EXPECT_EQ(changed_wave(x, none), x);
    EXPECT_EQ(none.warp, 1.0);
}

TEST(WaveAugment, MasksAndSpeedOfRows) {
    Tensor rows({40, 12});
    for (std::int64_t i = 0; i < rows.size(); ++i) rows.write()[i] = static_cast<float>(i);
    const WaveDraw d = draw_wave({}, 1, 0, 7);
    Tensor same = Tensor::of(rows.shape(), rows.span());
    mask_rows(same, WaveAugment::none(), d, true);
    EXPECT_EQ(same.values(), rows.values());
    std::int64_t masked = 0;
    for (std::uint64_t s = 0; s < 10; ++s) {
        Tensor m = Tensor::of(rows.shape(), rows.span());
        mask_rows(m, {}, draw_wave({}, 1, 0, s), true);
        for (std::int64_t i = 0; i < m.size(); ++i) masked += m.data()[i] != rows.data()[i];
    }
    EXPECT_GT(masked, 100);
    EXPECT_LT(masked, 10 * 480 / 2);
    const Tensor fast = stretched_rows(rows, 200), slow = stretched_rows(rows, 50);
    EXPECT_EQ(fast.rows(), 20);
    EXPECT_EQ(slow.rows(), 80);
    EXPECT_EQ(fast.at(3, 0), rows.at(6, 0));
    EXPECT_EQ(slow.at(3, 0), (rows.at(1, 0) + rows.at(2, 0)) / 2);
}

TEST(MadeStrings, JoinWordsOfOneSpeakerAndAreTheSameAgain) {
    const TestFolder f;
    for (const char* name : {"a", "b", "c", "d"}) write_tone(f / (std::string(name) + ".wav"), 300);
    write_file_atomically(
        f / "clips.tsv",
        "path\ttext\tspeaker\na.wav\tone\tann\nb.wav\ttwo\tann\nc.wav\tthree\tbob\nd."
        "wav\tfour\tbob\n");
    for (const char* out : {"x", "y"})
        write_strings({.clips = f / "clips.tsv", .out = f / out, .count = 12, .seed = 5});
    const std::string table = read_file(f / "x/strings.tsv");
    EXPECT_EQ(table, read_file(f / "y/strings.tsv"));
    const ClipSet set = read_clips({{f / "x/strings.tsv"}});
    ASSERT_EQ(set.clips.size(), 12u);
    for (const SpokenClip& c : set.clips) {
        const bool ann =
            c.text.find("one") != std::string::npos || c.text.find("two") != std::string::npos;
        EXPECT_EQ(c.speaker, ann ? "ann" : "bob");
        EXPECT_EQ(
            c.text.find("three") != std::string::npos || c.text.find("four") != std::string::npos,
            !ann);
        const auto words = std::count(c.text.begin(), c.text.end(), ' ') + 1;
        EXPECT_GE(words, 3);
        EXPECT_LE(words, 7);
        EXPECT_GE(read_wave(c.path).seconds(), 0.2 * static_cast<double>(words));
    }
    EXPECT_EQ(read_file(f / "x/00003.wav"), read_file(f / "y/00003.wav"));
}

}  // namespace
}  // namespace fovea
