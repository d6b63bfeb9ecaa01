import { Body, Controller, HttpCode, Post } from '@nestjs/common';
import { IsArray, IsIn, ArrayMaxSize } from 'class-validator';
import { HttpProblem } from '#libs/service';
import { ForPlayers } from '../auth/audience.js';
import { ConsoleSettings } from '../console.env.js';

/** JSON-RPC methods that the test wallet of the page needs. The node of a local chain itself signs for its accounts. */
export const TEST_WALLET_METHODS = [
  'eth_accounts',
  'eth_blockNumber',
  'eth_call',
  'eth_chainId',
  'eth_estimateGas',
  'eth_feeHistory',
  'eth_gasPrice',
  'eth_getBalance',
  'eth_getBlockByNumber',
  'eth_getCode',
  'eth_getTransactionByHash',
  'eth_getTransactionCount',
  'eth_getTransactionReceipt',
  'eth_maxPriorityFeePerGas',
  'eth_sendTransaction',
  'personal_sign',
] as const;

const TIMEOUT_MS = 10_000;

class WalletCall {
  @IsIn(TEST_WALLET_METHODS, { message: 'method must be one that the test wallet has' })
  readonly method!: (typeof TEST_WALLET_METHODS)[number];

  @ArrayMaxSize(3)
  @IsArray()
  readonly params!: unknown[];
}

/**
 * Passes the calls of the page's test wallet to a local chain. Answers 404 where CONSOLE_TEST_WALLET_RPC_URL is unset.
 */
@ForPlayers()
@Controller('player/test-wallet')
export class TestWalletController {
  private readonly url: string | undefined;

  constructor({ consoleTestWalletRpcUrl }: ConsoleSettings) {
    this.url = consoleTestWalletRpcUrl;
  }

  @Post('rpc')
  @HttpCode(200)
  async call(@Body() { method, params }: WalletCall): Promise<unknown> {
    if (this.url === undefined) {
      throw new HttpProblem(404, 'There is no test wallet: CONSOLE_TEST_WALLET_RPC_URL is unset.');
    }
    const { result, error } = await ask(this.url, method, params);
    return error === undefined ? { result: result ?? null } : { error };
  }
}

interface RpcAnswer {
  readonly result?: unknown;
  readonly error?: { readonly code: number; readonly message: string };
}

async function ask(url: string, method: string, params: unknown[]): Promise<RpcAnswer> {
  try {
    const answer = await fetch(url, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }),
      signal: AbortSignal.timeout(TIMEOUT_MS),
    });
    return (await answer.json()) as RpcAnswer;
  } catch (cause) {
    throw new HttpProblem(503, 'The local chain does not answer.', { cause });
  }
}
