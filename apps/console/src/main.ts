import { hasSupportedNode } from '#libs/node-version';

// Only then: an older Node fails in the middle of what the program imports.
if (hasSupportedNode()) await import('./console.program.js');
