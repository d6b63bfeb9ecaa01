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

/** Thrown by a recorded upstream in order to answer a call with an error. */
export class NodeError extends Error {
  constructor(
    readonly code: number,
    message: string,
    readonly data?: unknown,
  ) {
    super(message);
  }
}

/** The URL of a node, or recorded answers: a function that returns the result of a call or throws a NodeError. */
export type Upstream = string | ((call: NodeCall) => unknown);

/** Asks the upstream, a real node in one batch. @returns the answers in the order of the calls */
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
