import { hasSupportedNode } from '#libs/node-version';

// The import follows the check: an older Node fails somewhere in the modules that the program imports.
if (hasSupportedNode()) await import('./redemption.program.js');
