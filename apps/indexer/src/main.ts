import { hasSupportedNode } from '#libs/node-version';

// Imports the program only after the version check, because an older Node already fails on the imports of the program.
if (hasSupportedNode()) await import('./indexer.program.js');
