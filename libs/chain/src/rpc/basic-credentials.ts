/** Of `user:password@` in a URL, in base64 (RFC 7617); undefined where there is neither. */
export function basicCredentials({ username, password }: URL): string | undefined {
  if (username === '' && password === '') return undefined;
  return Buffer.from(`${decoded(username)}:${decoded(password)}`).toString('base64');
}

/** Without the escapes of a URL; as it is where they are none. */
export function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch (error) {
    if (error instanceof URIError) return text;
    throw error;
  }
}
