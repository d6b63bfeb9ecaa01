export interface NodeCall {
  readonly id: unknown;
  readonly method: string;
  readonly params: readonly unknown[];
}

export interface NodeAnswer {
  readonly jsonrpc: '2.0';
  id: unknown;
  result?: unknown;
  error?: { code: number; message: string; data?: unknown };
}

/** Thrown by a function that stands in for a node, to answer with an error. */
export class NodeError extends Error {
  constructor(
    readonly code: number,
    message: string,
    readonly data?: unknown,
  ) {
    super(message);
  }
}

/** A node's address, or recorded answers: the result for a call, or a NodeError. */
export type Upstream = string | ((call: NodeCall) => unknown);

/** The answers to the calls, from the real node in one batch, in the order of the calls. */
export async function askUpstream(
  upstream: Upstream,
  calls: readonly NodeCall[],
): Promise<NodeAnswer[]> {
  if (typeof upstream !== 'string') {
    return Promise.all(calls.map((call) => recorded(upstream, call)));
  }
  const response = await fetch(upstream, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(calls.map((call) => ({ jsonrpc: '2.0', ...call }))),
  });
  const answers = (await response.json()) as NodeAnswer[];
  const byId = new Map(answers.map((answer) => [answer.id, answer]));
  return calls.map((call) => byId.get(call.id) ?? { jsonrpc: '2.0', id: call.id, result: null });
}

async function recorded(answer: (call: NodeCall) => unknown, call: NodeCall): Promise<NodeAnswer> {
  const head = { jsonrpc: '2.0', id: call.id } as const;
  try {
    return { ...head, result: await answer(call) };
  } catch (error) {
    if (!(error instanceof NodeError)) throw error;
    const { code, message, data } = error;
    return { ...head, error: { code, message, ...(data === undefined ? {} : { data }) } };
  }
}
