export * from './sign-in.contract.js';
export * from './sign-in-limits.js';
export { type SiweSite, SiweVerifier } from './siwe-verifier.js';
