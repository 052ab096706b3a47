// A source for the precompiled header of libweft's code.
