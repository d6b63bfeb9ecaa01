import { createRequire } from 'node:module';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import {
  type Abi,
  concatHex,
  encodeAbiParameters,
  encodeDeployData,
  encodeFunctionData,
  getCreate2Address,
  type Hex,
  serializeErc6492Signature,
} from 'viem';
import { privateKeyToAccount } from 'viem/accounts';
import { mineOne } from '#libs/devchain';
import { type Address } from '#libs/domain';
import { aWallet, startChain, type TestChain } from '#libs/testing';
import { RpcPool } from '../rpc/rpc-pool.js';
import { WalletSignatures } from './wallet-signatures.js';

const SOURCE = `
// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

contract Wallet {
    address private immutable _owner;
    constructor(address owner) { _owner = owner; }

    function isValidSignature(bytes32 hash, bytes calldata signature) external view returns (bytes4) {
        (bytes32 r, bytes32 s, uint8 v) = abi.decode(signature, (bytes32, bytes32, uint8));
        return ecrecover(hash, v, r, s) == _owner ? bytes4(0x1626ba7e) : bytes4(0xffffffff);
    }
}

contract Factory {
    function make(address owner) external { new Wallet{salt: 0}(owner); }
}

contract Endless {
    function isValidSignature(bytes32, bytes calldata) external view returns (bytes4) {
        uint256 sum;
        while (gasleft() > 0) sum++;
        return bytes4(bytes32(sum));
    }
}`;

const START = 1_760_000_000;
const TEXT = 'example.com wants you to sign in';
const owner = privateKeyToAccount(`0x${'33'.repeat(32)}`);
const stranger = privateKeyToAccount(`0x${'44'.repeat(32)}`);

let chain: TestChain;
let signatures: WalletSignatures;
let compiled: Readonly<Record<string, { readonly abi: Abi; readonly bytecode: Hex }>>;
let seconds = START;

beforeAll(async () => {
  compiled = compile();
  chain = await startChain({ deployedSeconds: START });
  const clock = { nowMs: () => START * 1000 };
  signatures = new WalletSignatures(new RpcPool({ urls: [chain.url], clock }));
  await signatures.verifyChainId(chain.chainId);
});
afterAll(() => chain.stop());

describe('the signature of an account', () => {
  it('is its own, and nobody else’s', async () => {
    const signature = await owner.signMessage({ message: TEXT });
    expect(await isSigned(owner.address, signature)).toBe(true);
    expect(await isSigned(stranger.address, signature)).toBe(false);
    expect(await signatures.isSignedBy(lower(owner.address), `${TEXT}.`, signature)).toBe(false);
  });

  it.each(['', '0x', '0x00', '0xzz', 'x', `0x${'00'.repeat(65)}`, `0x${'ff'.repeat(65)}`])(
    'is not %p',
    async (signature) => {
      expect(await isSigned(owner.address, signature)).toBe(false);
    },
  );

  it('needs no chain where it is right', async () => {
    const clock = { nowMs: () => START * 1000 };
    const dead = new WalletSignatures(new RpcPool({ urls: ['http://127.0.0.1:1'], clock }));
    const signature = await owner.signMessage({ message: TEXT });
    expect(await dead.isSignedBy(lower(owner.address), TEXT, signature)).toBe(true);
    await expect(dead.isSignedBy(lower(stranger.address), TEXT, signature)).rejects.toMatchObject({
      code: 'RPC_ALL_ENDPOINTS_FAILED',
    });
  });
});

describe('the signature of a contract wallet', () => {
  it('is what the wallet says it is (EIP-1271)', async () => {
    const wallet = await deploy('Wallet', [owner.address]);
    expect(await isSigned(wallet, await inner(owner))).toBe(true);
    expect(await isSigned(wallet, await inner(stranger))).toBe(false);
    expect(await isSigned(wallet, '0x1234')).toBe(false);
  });

  it('is asked for also before the wallet exists (EIP-6492)', async () => {
    const factory = await deploy('Factory', []);
    const { bytecode, abi } = contract('Wallet');
    const wallet = getCreate2Address({
      from: factory,
      salt: `0x${'00'.repeat(32)}`,
      bytecode: encodeDeployData({ abi, bytecode, args: [owner.address] }),
    });
    const data = encodeFunctionData({
      abi: contract('Factory').abi,
      functionName: 'make',
      args: [owner.address],
    });
    const wrapped = async (by: typeof owner): Promise<Hex> =>
      serializeErc6492Signature({ address: factory, data, signature: await inner(by) });
    expect(await isSigned(wallet, await wrapped(owner))).toBe(true);
    expect(await isSigned(wallet, await wrapped(stranger))).toBe(false);
    // The wrapper of one wallet does not vouch for another.
    expect(await isSigned(aWallet(7), await wrapped(owner))).toBe(false);
    const code = await chain.rpc.call('eth_getCode', wallet, 'latest');
    expect(code).toBe('0x');
  });

  it('is none where the wallet never answers, and the node stays usable', async () => {
    const wallet = await deploy('Endless', []);
    expect(await isSigned(wallet, '0x1234')).toBe(false);
    expect(await isSigned(await deploy('Wallet', [owner.address]), await inner(owner))).toBe(true);
  });
});

function isSigned(wallet: string, signature: string): Promise<boolean> {
  return signatures.isSignedBy(lower(wallet), TEXT, signature);
}

function lower(address: string): Address {
  return address.toLowerCase() as Address;
}

/** As the wallet above reads it: longer than an account's own. */
async function inner(by: typeof owner): Promise<Hex> {
  const signature = await by.signMessage({ message: TEXT });
  const [r, s, v] = [signature.slice(2, 66), signature.slice(66, 130), signature.slice(130)];
  return concatHex([
    `0x${r}`,
    `0x${s}`,
    encodeAbiParameters([{ type: 'uint8' }], [Number(`0x${v}`)]),
  ]);
}

async function deploy(name: string, args: readonly unknown[]): Promise<Hex> {
  const { abi, bytecode } = contract(name);
  const data = encodeDeployData({ abi, bytecode, args });
  const { contractAddress } = await mineOne(chain.rpc, (seconds += 12), { from: aWallet(9), data });
  return contractAddress as Hex;
}

function contract(name: string): { readonly abi: Abi; readonly bytecode: Hex } {
  const found = compiled[name];
  if (!found) throw new Error(`no ${name}`);
  return found;
}

function compile(): typeof compiled {
  const solc = createRequire(import.meta.url)('solc') as { compile(input: string): string };
  const input = {
    language: 'Solidity',
    sources: { 'w.sol': { content: SOURCE } },
    settings: {
      evmVersion: 'cancun',
      outputSelection: { '*': { '*': ['abi', 'evm.bytecode.object'] } },
    },
  };
  const { contracts } = JSON.parse(solc.compile(JSON.stringify(input))) as {
    contracts: Record<string, Record<string, { abi: Abi; evm: { bytecode: { object: string } } }>>;
  };
  return Object.fromEntries(
    Object.entries(contracts['w.sol'] ?? {}).map(([name, { abi, evm }]) => [
      name,
      { abi, bytecode: `0x${evm.bytecode.object}` as const },
    ]),
  );
}
