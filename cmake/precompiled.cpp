// Nothing: CMake wants a source file for a target that only makes a precompiled header.
