import { createRoute } from '@tanstack/react-router';
import { rootRoute } from '../shell/root-route';
import { lazyPage } from '../shell/upgrades';

/** What all pages of operators lie in. */
export const operateRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: '/operate',
  component: lazyPage(() => import('./operate-area'), 'OperateArea'),
});
