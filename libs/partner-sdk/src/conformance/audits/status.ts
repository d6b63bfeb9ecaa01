import { ERROR_CODES } from '../../callbacks/refusal.js';
import { type Exchange } from '../wire/exchange.js';
import { type Fault } from './fault.js';

const JSON_TYPE = /^application\/json\s*(;|$)/i;
/** With these the envelope is believed. */
const REFUSAL_STATUSES = [200, 400, 401, 404, 409, 422];
/** With these the outcome counts as unknown, which is what ERR-INTERNAL says. */
const FAILURE_STATUSES = [...REFUSAL_STATUSES, 429, 500];

/** Status, content type and code of an answer that can be read. */
export function judgeStatus(exchange: Exchange): Fault[] {
  const { came, reading, purpose } = exchange;
  if (came.kind === 'none' || reading.kind === 'unreadable') return [];
  const { status, headers } = came;
  const faults: Fault[] = [];
  const type = headers['content-type'];
  const encoding = headers['content-encoding'] ?? 'identity';
  if (type === undefined || !JSON_TYPE.test(type)) {
    const observed = `The content type is ${type ?? 'missing'}.`;
    faults.push({ check: 'http-content-type', observed, exchange });
  } else if (encoding !== 'identity') {
    const observed = `The content encoding is ${encoding}, though identity was asked for.`;
    faults.push({ check: 'http-content-type', observed, exchange });
  }
  if (reading.kind === 'success') {
    const observed = `A success (${purpose}) has status ${status}.`;
    if (status !== 200) faults.push({ check: 'success-status', observed, exchange });
    return faults;
  }
  const { code } = reading;
  if (!ERROR_CODES.some((known) => known === code)) {
    const observed = `The error code is ${JSON.stringify(code)} (${purpose}).`;
    faults.push({ check: 'error-codes', observed, exchange });
  }
  const allowed = code === 'ERR-INTERNAL' ? FAILURE_STATUSES : REFUSAL_STATUSES;
  if (!allowed.includes(status)) {
    const observed = `${code} (${purpose}) has status ${status}.`;
    faults.push({ check: 'refusal-status', observed, exchange });
  }
  return faults;
}
