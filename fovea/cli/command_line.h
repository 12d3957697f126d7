#pragma once
// The whole program as one call, without the parser's large header.
namespace fovea {

// Parses, runs the verb, reports. Returns the exit code: 0 ok, 1 failed while working, 2 wrong
// usage, 3 bad input data, 4 file or model not found or not readable, 5 a requested bound was
// missed, 6 server busy or unreachable, 130 Ctrl-C, 143 SIGTERM.
int run_command_line(int argc, char** argv);

}  // namespace fovea
