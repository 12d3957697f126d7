"""The way a peer answers: one line of JSON in ({"do": NAME, ...}), one out, by the method of that name."""
import json
import os
import sys


def serve(peer):
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # whatever a library prints must not look like an answer
    for line in sys.stdin:
        job = json.loads(line)
        try:
            answer = getattr(peer, job["do"])(job)
        except Exception as e:  # said to the other side, which then leaves the row without a peer
            answer = {"error": f"{type(e).__name__}: {e}"}
        answers.write(json.dumps(answer) + "\n")
        answers.flush()
