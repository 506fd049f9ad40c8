package client

import (
	"github.com/freshet/freshet/feed"
	"github.com/freshet/freshet/feed/api"
	"github.com/freshet/freshet/social"
)

//nolint:revive // what calls send and answers have, described where the server declares it
type (
	AgentCard        = api.AgentCard
	AgentPage        = api.AgentPage
	CircleIDPage     = api.CircleIDPage
	AgentProfile     = api.AgentProfile
	Audience         = social.Audience
	Author           = social.AuthorInfo
	GridCard         = social.GridCard
	AuthorCard       = api.AuthorCard
	Circle           = social.Circle
	CircleChange     = social.CircleChange
	CircleRef        = social.CircleRef
	Removal          = social.Removal
	CirclePage       = social.CirclePage
	Dependency       = api.Dependency
	Event            = api.Event
	EventsTaken      = api.EventsTaken
	Experiment       = api.Experiment
	Explained        = api.Explained
	Export           = api.Export
	Finding          = api.Finding
	Followed         = api.Followed
	Gain             = feed.Gain
	Image            = social.Image
	Interval         = api.Interval
	JobQueue         = api.JobQueue
	JobRows          = api.JobRows
	Learned          = feed.LearnedGain
	Likes            = api.Likes
	AuditEntry       = social.AuditEntry
	AuditPage        = social.AuditPage
	Moderation       = social.Moderate
	ModerationObject = social.Object
	ModerationAction = social.Action
	ModeratedPage    = social.ModeratedPage
	ModeratedPost    = social.ModeratedPost
	ReportedObject   = social.ReportedObject
	ReportedPage     = social.ReportedPage
	Notification     = social.Notice
	NotificationPage = social.NoticePage
	ItemReaders      = api.ItemReaders
	Overview         = api.Overview
	OverviewPoint    = api.OverviewPoint
	OverviewServer   = api.OverviewServer
	PostEdit         = social.Edit
	Promotion        = social.PromotionState
	PromotionChange  = social.PromotionChange
	PromotionPage    = social.PromotionPage
	RankingVersion   = api.RankingVersion
	Reason           = api.Reason
	Rejection        = api.Rejection
	Report           = api.Report
	ReportBalance    = api.ReportBalance
	ReportDay        = api.ReportDay
	ReportDifference = api.ReportDifference
	ReportPair       = api.ReportPair
	ReportPosition   = api.ReportPosition
	ReportPromotion  = api.ReportPromotion
	ReportRow        = api.ReportRow
	ReportRun        = api.ReportRun
	ReportSize       = api.ReportSize
	ReportSource     = api.ReportSource
	Setting          = api.Setting
	Shown            = api.Shown
	Suggestion       = api.Suggestion
	System           = api.System
)

// Names of version 0.1, for code written for it. They go with version 0.3.
type (
	// Tile is [GridCard].
	//
	// Deprecated: use GridCard.
	Tile = GridCard
	// TilePage is [GridPage].
	//
	// Deprecated: use GridPage.
	TilePage = GridPage
)
