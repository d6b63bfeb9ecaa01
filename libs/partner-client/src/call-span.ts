import { type PartnerStep } from '#libs/domain';
import { type SpanAttributes, type SpanStart } from '#libs/platform';
import { type CallResult } from './call-result.js';
import { ROUTES } from './partner-call.js';
import { type PartnerEndpoint } from './partner-endpoint.js';

/**
 * The span of one call to a partner: which of the four, and whose. The partner's own URL may hold a credential, so that the interface's
 * path stands for it; no header of the call tells of the span, since its headers are those of the interface.
 */
export function callSpan({ partnerId }: PartnerEndpoint, step: PartnerStep): SpanStart {
  const { method, path } = ROUTES[step];
  return {
    name: `${method} ${path}`,
    kind: 'client',
    attributes: {
      'http.request.method': method,
      'url.template': path,
      'lowmark.partner_id': partnerId,
      'lowmark.step': step,
    },
  };
}

/** How the call ended. */
export function endOf(result: CallResult): SpanAttributes {
  const { kind, phase, record } = result;
  return {
    'lowmark.api_request': record.requestId,
    'lowmark.outcome': kind,
    'lowmark.phase': phase,
    'lowmark.verdict': record.verdict,
    'http.response.status_code': record.status,
  };
}
