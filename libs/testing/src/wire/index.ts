export { exchange, type RawAnswer } from './exchange.js';
export { HTTP_PIECES } from './http-pieces.js';
export { nullFields } from './null-fields.js';
export { wrongBodies, wrongQueries } from './wrong-shapes.js';
export { TcpLink } from './tcp-link.js';
