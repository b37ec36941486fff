// Package origin brings the branches of a repository that the operator has named into
// authors' workspaces, as origin/*.
//
// The author's repository is never given to git: what its configuration, hooks and
// links say is nobody's business here. The kernel fetches into a mirror of its own, and
// puts packs and references into the workspace as files, which every git finds there:
// the packs first, whole, under names that are made of their content, then the index of
// each, then refs/remotes/origin. Nothing on the way there is followed.
package origin
