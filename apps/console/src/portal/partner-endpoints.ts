import { Inject, Injectable } from '@nestjs/common';
import { type PartnerId } from '#libs/domain';
import {
  type AddressPolicy,
  addressPolicy,
  parsePartnerUrl,
  policedLookup,
} from '#libs/partner-client';
import { CLOCK, type Clock } from '#libs/platform';
import { HttpProblem } from '#libs/service';
import { ConsoleSettings } from '../console.env.js';
import { OwnSecrets } from './own-secrets.js';

/** The target of the conformance tester: the partner's current callback, at an address that callbacks may have. */
@Injectable()
export class PartnerEndpoints {
  private readonly policy: AddressPolicy;

  constructor(
    private readonly secrets: OwnSecrets,
    { allowPrivatePartners, nodeEnv }: ConsoleSettings,
    @Inject(CLOCK) private readonly clock: Clock,
  ) {
    const isProduction = nodeEnv === 'production';
    this.policy = addressPolicy({ allowPrivate: allowPrivatePartners, isProduction });
  }

  /** @throws HttpProblem 404 CALLBACK_MISSING, 409 CALLBACK_REFUSED */
  async find(partnerId: PartnerId) {
    const callback = await this.secrets.callback(partnerId);
    if (callback === undefined) {
      const message = 'You have no callback yet: your operator sets it.';
      throw new HttpProblem(404, message, { code: 'CALLBACK_MISSING' });
    }
    const { url: baseUrl, key: apiKey, secret: sharedSecret, confirms: hasConfirm } = callback;
    const parsed = parsePartnerUrl(baseUrl, this.policy);
    if (!parsed.ok) throw new HttpProblem(409, parsed.message, { code: 'CALLBACK_REFUSED' });
    const lookup = policedLookup(this.policy);
    return { target: { baseUrl, apiKey, sharedSecret, lookup, clock: this.clock }, hasConfirm };
  }
}
