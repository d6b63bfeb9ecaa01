import { hasSupportedNode } from '#libs/node-version';

// Imported only after the check: an older Node fails while it loads the imports of the program.
if (hasSupportedNode()) await import('./console.program.js');
