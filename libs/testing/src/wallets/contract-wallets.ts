import {
  concatHex,
  encodeAbiParameters,
  encodeDeployData,
  encodeFunctionData,
  getCreate2Address,
  hashMessage,
  type Hex,
  serializeErc6492Signature,
} from 'viem';
import { type PrivateKeyAccount } from 'viem/accounts';
import { mineOne } from '#libs/devchain';
import { type Address } from '#libs/domain';
import { type TestChain } from '../chain/start-chain.js';
import { aWallet } from '../database/index-builders.js';
import { type CompiledContract, compileSolidity } from '../solidity/index.js';
import { CONTRACT_WALLETS } from './contract-wallets.sol.js';

type Kind = 'Wallet' | 'Approving' | 'Factory' | 'Endless' | 'Reverting' | 'Answering' | 'Verifier';

/** Deploys contract wallets on a local chain, each in its own block. */
export class ContractWallets {
  private readonly contract: (kind: Kind) => CompiledContract = compileSolidity(CONTRACT_WALLETS);

  /** @param seconds timestamp of the newest block */
  constructor(
    private readonly chain: TestChain,
    private seconds: number,
  ) {}

  /** Deploys a wallet that accepts the signatures of this account. */
  async of(owner: PrivateKeyAccount): Promise<Address> {
    return this.deploy('Wallet', owner.address);
  }

  async deploy(kind: Kind, ...args: readonly unknown[]): Promise<Address> {
    const { abi, bytecode } = this.contract(kind);
    const data = encodeDeployData({ abi, bytecode, args });
    const from = aWallet(9);
    const { contractAddress } = await mineOne(this.chain.rpc, ++this.seconds, { from, data });
    if (contractAddress === undefined) throw new Error(`no ${kind} was deployed`);
    return contractAddress.toLowerCase() as Address;
  }

  /** Signs a text on the chain, as the owners of a Safe can; the signature is then empty. @param wallet an `Approving` */
  async approve(wallet: Address, text: string): Promise<void> {
    const { abi } = this.contract('Approving');
    const data = encodeFunctionData({ abi, functionName: 'approve', args: [hashMessage(text)] });
    await mineOne(this.chain.rpc, ++this.seconds, { from: aWallet(9), to: wallet, data });
  }

  /** Makes the account run the code of a contract, as after an authorization of EIP-7702. */
  async delegate(account: string, to: Address): Promise<void> {
    await this.chain.rpc.call('anvil_setCode', account, `0xef0100${to.slice(2)}`);
  }

  /** Places the verifier of EIP-6492 at the address that a chain definition names. */
  async putVerifier(address: Address): Promise<void> {
    const deployed = await this.deploy('Verifier');
    const code = await this.chain.rpc.call<string>('eth_getCode', deployed, 'latest');
    await this.chain.rpc.call('anvil_setCode', address, code);
  }

  /** Returns a wallet that its factory has not deployed yet, with a function for its signatures (EIP-6492). */
  async undeployed(owner: PrivateKeyAccount): Promise<{
    readonly wallet: Address;
    readonly sign: (text: string, by?: PrivateKeyAccount) => Promise<Hex>;
    readonly make: () => Promise<void>;
  }> {
    const factory = await this.deploy('Factory');
    const { abi, bytecode } = this.contract('Wallet');
    const wallet = getCreate2Address({
      from: factory as Hex,
      salt: `0x${'00'.repeat(32)}`,
      bytecode: encodeDeployData({ abi, bytecode, args: [owner.address] }),
    }).toLowerCase() as Address;
    const make = { abi: this.contract('Factory').abi, functionName: 'make', args: [owner.address] };
    const data = encodeFunctionData(make);
    return {
      wallet,
      sign: async (text, by = owner) =>
        serializeErc6492Signature({
          address: factory as Hex,
          data,
          signature: await walletSignature(by, text),
        }),
      make: async () => {
        await mineOne(this.chain.rpc, ++this.seconds, { from: aWallet(9), to: factory, data });
      },
    };
  }
}

/** A signature in the encoding that the contract `Wallet` expects, which is longer than an account's own signature. */
export async function walletSignature(by: PrivateKeyAccount, message: string): Promise<Hex> {
  const signature = await by.signMessage({ message });
  const v = encodeAbiParameters([{ type: 'uint8' }], [Number(`0x${signature.slice(130)}`)]);
  return concatHex([`0x${signature.slice(2, 130)}`, v]);
}
