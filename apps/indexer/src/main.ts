import { setFlagsFromString } from 'node:v8';
import { hasSupportedNode } from '#libs/node-version';

// With the heap limit of a small container, V8 collects whenever the heap has grown by less than half. That costs a
// third of the CPU of a first sync. The limit itself stays.
setFlagsFromString('--heap-growing-percent=200');

// Imports the program only after the version check, because an older Node already fails on the imports of the program.
if (hasSupportedNode()) await import('./indexer.program.js');
