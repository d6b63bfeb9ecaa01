export { type Fault } from './fault.js';
export { FaultyHistory } from './faulty-history.js';
export { FaultyNode, type NodeRequest, startFaultyNode } from './faulty-node.js';
export { type NodeCall, NodeError } from './node-call.js';
