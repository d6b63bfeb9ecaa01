import { hasSupportedNode } from '#libs/node-version';

// A dynamic import, since an unsupported Node fails while it loads the imports of the program.
if (hasSupportedNode()) await import('./cli.program.js');
