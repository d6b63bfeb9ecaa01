import createClient, { type Middleware } from 'openapi-fetch';
import { ApiProblem } from './api-problem';
import { type paths } from './redemption.generated';

/** Every answer that is not a success becomes an ApiProblem. */
const refusals: Middleware = {
  async onResponse({ response }) {
    if (response.ok) return;
    const body: unknown = await response
      .clone()
      .json()
      .catch(() => undefined);
    throw ApiProblem.of(response, body);
  },
};

/** The redemption service, by way of the console, which adds the player's session. */
export const playerApi = createClient<paths>({ baseUrl: '/player' });
playerApi.use(refusals);
