import { canonicalJson } from '#libs/domain';
import { type ApiError } from './api.error.js';

/** The body of every error, canonical. */
export function errorBody({ code, message }: ApiError): string {
  return canonicalJson({ success: false, code, message });
}

export const JSON_TYPE = 'application/json; charset=utf-8';
