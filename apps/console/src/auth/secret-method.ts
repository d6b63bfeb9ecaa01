interface IssuerMetadata {
  readonly token_endpoint_auth_methods_supported?: readonly string[] | null | undefined;
}

/**
 * How the client secret goes to the token endpoint. Without a list, the default is Basic (OpenID Connect Discovery 1.0,
 * section 3), and so it is if the list has neither way.
 */
export function secretMethodOf({
  token_endpoint_auth_methods_supported: listed,
}: IssuerMetadata): 'client_secret_basic' | 'client_secret_post' {
  const methods = listed ?? [];
  const isBasic =
    methods.includes('client_secret_basic') || !methods.includes('client_secret_post');
  return isBasic ? 'client_secret_basic' : 'client_secret_post';
}
