export { LONGEST_NAME, parseName, type ParsedName, withoutInvisible } from './name.js';
export { lookAlikeKey } from './look-alike.js';
