#include "fovea/cli/command_line.h"

int main(int argc, char** argv) { return fovea::run_command_line(argc, argv); }
