package sample

import "slices"

// handler answers one request; nil as the result is 204.
type handler func(*Org, *request) (any, error)

// one makes a handler of what finds the thing that a path names and what shows
// it.
func one[T any](find func(*Org, *request) (T, error), show func(*Org, T) any) handler {
	return func(o *Org, r *request) (any, error) {
		v, err := find(o, r)
		if err != nil {
			return nil, err
		}
		return show(o, v), nil
	}
}

type route struct {
	pattern string // of the resource: what stands behind _apis
	serve   handler
}

// routes are the resources of the organization. Each domain has a file, and its
// routes stand at the top of it. Of several that fit, the first is taken.
var routes = slices.Concat(
	coreRoutes, gitRoutes, pullRequestRoutes, policyRoutes, threadRoutes, workItemRoutes, trackingRoutes, planningRoutes,
	pipelineRoutes, wikiRoutes, searchRoutes, testPlanRoutes, securityRoutes,
)
