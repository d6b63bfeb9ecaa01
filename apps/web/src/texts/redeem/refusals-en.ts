/** One sentence for each code, with its meaning for the player and what to do. */
export const refusalsEn = {
  ANSWER_TOO_LARGE: 'The answer was too large to show. Try again later.',
  BAD_REQUEST: 'That was not understood. Check what you entered.',
  CSRF_TOKEN: 'You signed in or out in another tab. Load the page again.',
  FINAL: 'This redemption has ended already.',
  FOREIGN_ORIGIN:
    'This page is not at the address that it is set up for. Please tell its operator.',
  IDEMPOTENCY_CONFLICT: 'That was asked for before in another form. Try again.',
  IDEMPOTENCY_IN_PROGRESS: 'This redemption is being made right now.',
  INSUFFICIENT_POINTS: 'You do not have so many points there.',
  INTERNAL_SERVER_ERROR: 'Something went wrong on our side. Try again; nothing is done twice.',
  INVALID_POINTS: 'Enter a whole number of points.',
  NEEDS_OPERATOR: 'A person is looking into this redemption; it cannot be cancelled now.',
  NOT_FOUND: 'That is no longer there.',
  NOT_RESTORABLE: 'This redemption cannot be cancelled now.',
  NOT_YET_CANCELLABLE: 'It cannot be cancelled in this moment.',
  NO_CONNECTION: 'The page has no connection.',
  PARTNER_BUDGET_SPENT:
    'What this game gives today is nearly used up. Try fewer points, or tomorrow.',
  PARTNER_ERROR: 'The game gave an answer that cannot be used. No points were taken.',
  PARTNER_PAUSED: 'This game takes no redemptions for now.',
  PARTNER_UNAVAILABLE: 'The game cannot be reached at the moment. No points were taken.',
  PAYOUTS_UNAVAILABLE: 'Tokens cannot be paid out at the moment, so no points are taken.',
  PRICE_STALE: 'The price of the token is too old to use, so no points are taken.',
  PRICE_UNAVAILABLE: 'There is no price of the token at the moment, so no points are taken.',
  QUOTE_CHANGED:
    'The price has moved: you would have got less than was shown. Nothing was taken; look at the new figure.',
  RATE_LIMIT_EXCEEDED:
    'That was too often, or your last redemptions came to nothing. Wait a little.',
  REDEMPTIONS_PAUSED:
    'Redemptions are paused while the operator checks the records. No points are taken.',
  REDEMPTION_OPEN: 'You have a redemption open with this game. Finish or cancel it first.',
  SERVICE_UNAVAILABLE: 'Redemptions cannot be reached at the moment.',
  SIWE_CHAIN_ID: 'The message was signed for another network. Sign in again.',
  SIWE_DOMAIN:
    'Sign-in is not set up for this page’s address. Its operator has to add the address to SIWE_DOMAINS.',
  SIWE_EXPIRED: 'The message was signed too late. Sign in again.',
  SIWE_ISSUED_AT: 'The clock of this device is far off. Set it right and sign in again.',
  SIWE_NONCE:
    'The message was used already, or was signed too late: accounts have 5 minutes, contract wallets 30. Sign in again.',
  SIWE_NOT_BEFORE: 'The clock of this device is far off. Set it right and sign in again.',
  SIWE_SIGNATURE: 'The signature does not belong to this account. Sign in again.',
  SIWE_URI:
    'Sign-in is not set up for this page’s address. Its operator has to add the address to SIWE_DOMAINS.',
  SIWE_WALLET: 'This address belongs to a chain or to a contract. Choose an account of yours.',
  TOO_FEW_POINTS: 'These are fewer points than this game takes.',
  TOO_FEW_TOKENS: 'These points come to less than the smallest part of a token. Enter more.',
  TOO_LATE_TO_CANCEL: 'It is too late to cancel this redemption.',
  TOO_MANY_POINTS: 'These are more points than can be redeemed at once at the moment.',
  UNAUTHORIZED: 'Your session has ended. Sign in again.',
  UNEXPECTED_ANSWER: 'The answer was not what was expected. Try again later.',
  USER_NOT_FOUND: 'This game does not know your wallet. Link it there first.',
  VOUCHER_COOL_DOWN: 'You left a voucher unclaimed, so you wait before you can redeem again.',
  WALLET_BUDGET_SPENT:
    'What one wallet can redeem in a day is nearly used up. Try fewer points, or tomorrow.',
};
