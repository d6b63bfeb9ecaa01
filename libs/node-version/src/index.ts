export { hasSupportedNode, nodeFault } from './node-version.js';
