// The program that the precompiled header of the unit tests belongs to; it does nothing.
int main() { return 0; }
