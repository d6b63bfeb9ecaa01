/** As much of the library as the tests use; it has no types of its own. */
declare module 'oidc-provider' {
  import { type RequestListener } from 'node:http';

  interface Grant {
    addOIDCScope(scope: string): void;
    save(): Promise<string>;
  }

  export class Provider {
    constructor(issuer: string, options: object);
    callback(): RequestListener;
    readonly Grant: new (of: { clientId: string; accountId: string }) => Grant;
  }
}
