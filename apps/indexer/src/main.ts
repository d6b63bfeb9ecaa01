import { setFlagsFromString } from 'node:v8';
import { hasSupportedNode } from '#libs/node-version';

// V8 collects when the heap has doubled. With the heap limit of a small container it would collect when the heap has
// grown by 40 %, which costs a third of the CPU of a first sync. The limit itself stays.
setFlagsFromString('--heap-growing-percent=100');

// Imports the program only after the version check, because an older Node already fails on the imports of the program.
if (hasSupportedNode()) await import('./indexer.program.js');
