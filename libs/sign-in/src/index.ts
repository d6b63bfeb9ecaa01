export { NonceBody, NonceRoute } from './nonce.js';
export {
  addressLimits,
  type Limit,
  type RefusalCount,
  SignInLimitGuard,
  SignInLimits,
} from './sign-in-limits.js';
export { SIWE_CODES, type SiweSite, SiweVerifier } from './siwe-verifier.js';
