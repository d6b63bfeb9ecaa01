export {
  MessageField,
  NonceBody,
  NonceRoute,
  SignatureField,
  WalletSignInRoute,
} from './sign-in.contract.js';
export {
  addressLimits,
  type Limit,
  type RefusalCount,
  SignInLimitGuard,
  SignInLimits,
} from './sign-in-limits.js';
export { type SiweSite, SiweVerifier } from './siwe-verifier.js';
