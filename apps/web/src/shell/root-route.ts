import { createRootRoute } from '@tanstack/react-router';
import { NotFoundPage } from './not-found-page';
import { Shell } from './shell';

/** All areas hang their routes here. */
export const rootRoute = createRootRoute({ component: Shell, notFoundComponent: NotFoundPage });
