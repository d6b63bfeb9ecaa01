export { ContractWallets, walletSignature } from './contract-wallets.js';
