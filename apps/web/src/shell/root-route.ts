import { createRootRoute } from '@tanstack/react-router';
import { NotFoundPage } from './fallback-pages';
import { Shell } from './shell';
/** All areas hang their routes here. */
export const rootRoute = createRootRoute({ component: Shell, notFoundComponent: NotFoundPage });
