#!/usr/bin/env python3
"""Mails of AESLC as JSON lines of body and subject: aeslc_lines.py enron_subject_line/test > test.jsonl

`fovea` reads the folders as they are; lines can be cut into parts by length, which `fovea compare` does.
"""
import json
import pathlib
import sys

for path in sorted(pathlib.Path(sys.argv[1]).glob("*.subject")):
    body, _, rest = path.read_text(encoding="utf-8", errors="replace").partition("\n@subject\n")
    subject = rest.partition("\n@")[0].strip()
    if body.strip() and subject:
        print(json.dumps({"text": " ".join(body.split()), "summary": " ".join(subject.split())}, ensure_ascii=False))
