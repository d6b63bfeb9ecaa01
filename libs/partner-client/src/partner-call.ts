import {
  type Address,
  type ConfirmationPayload,
  type PartnerRequest,
  type PartnerStep,
} from '#libs/domain';

/** One of the four calls, with what it says. */
export type PartnerCall =
  | PartnerRequest
  | { readonly step: 'balance'; readonly address: Address }
  | { readonly step: 'confirm'; readonly body: ConfirmationPayload };

export interface Route {
  readonly method: 'GET' | 'POST';
  /** Behind the base URL's own path. */
  readonly path: string;
  /** Whether it changes nothing at the partner; its deadline is the shorter one. */
  readonly isRead: boolean;
}

/** Part B of the partner interface. */
export const ROUTES: Readonly<Record<PartnerStep, Route>> = {
  balance: { method: 'GET', path: '/get-points-by-address', isRead: true },
  deduct: { method: 'POST', path: '/deduct-points-by-address', isRead: false },
  revert: { method: 'POST', path: '/revert-deduct-points', isRead: false },
  confirm: { method: 'POST', path: '/confirm-redemption', isRead: false },
};
