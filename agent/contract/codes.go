package contract

// Truncated is the violation code of an output that the token limit cut off. It is
// its own class: such an output is not repaired.
const Truncated = "truncated"

// Violation codes, in the order of the contract: of the output as a whole, then
// PLACE:PROBLEM. Codes are stable: the ledger keeps them.
const (
	codeNotJSON   = "not_json"
	codeAmbiguous = "ambiguous"
	codeNotObject = "not_object"
	codeTooLarge  = "too_large"
	codeTooDeep   = "too_deep"

	codeControl       = "control:object_required"
	codeControlDone   = "control.done:boolean_required"
	codeControlReason = "control.reason:enum"

	codeAction       = "next_action:object_required"
	codeActionType   = "next_action.type:enum"
	codeName         = "next_action.name:string_required"
	codeUnknownTool  = "next_action.name:unknown_tool"
	codeArgs         = "next_action.args:object_required"
	codeMessage      = "next_action.message:string_required"
	codeMessageBlank = "next_action.message:blank"

	codeUpdate          = "state_update:object_required"
	codePlan            = "state_update.plan:string_required"
	codeObservation     = "state_update.observation:string_required"
	codeConfidence      = "state_update.confidence:number_required"
	codeConfidenceRange = "state_update.confidence:range"
)

// Warning codes. One that ends in a colon or underscore is completed by a path,
// key, reason or type; those of a date follow args.FIELD.
const (
	warnDuplicateKey = "duplicate_key:"
	warnExtraKey     = "extra_key:"

	warnDoneWithTool      = "contradiction:done_with_tool"
	warnRespondNotDone    = "contradiction:respond_not_done"
	warnGaveUpNotDone     = "contradiction:cannot_proceed_not_done"
	warnDoneWithClarify   = "contradiction:done_with_clarify"
	warnToolReason        = "contradiction:tool_with_reason_"
	warnRespondNeedsInput = "contradiction:respond_with_need_clarification"
	warnClarifyReason     = "contradiction:clarify_with_reason_"

	warnLongPlan       = "plan:more_than_6_lines"
	warnMessageIgnored = "message_ignored_for_tool"
	warnNameIgnored    = "name_ignored_for_"
	warnArgsIgnored    = "args_ignored_for_"
	warnNoDate         = ":not_a_calendar_date"
	warnAfterEnd       = ":after_end_"
	warnNoQuestion     = "clarify:no_question"
	warnQuestions      = "clarify:more_than_one_question"
	warnLongQuestion   = "clarify:longer_than_200"
)

// Names of the repair steps.
const (
	stepTrim           = "trim"
	stepThinkTags      = "think_tags"
	stepDoubleEncoded  = "double_encoded"
	stepCodeFence      = "code_fence"
	stepSingleElement  = "single_element_array"
	stepFirstObject    = "first_balanced_object"
	stepComments       = "strip_comments"
	stepTrailingCommas = "trailing_commas"
	stepPython         = "python_literals"
	stepSingleQuotes   = "single_quotes"
)

// stepOrder is the order in which steps are listed.
var stepOrder = []string{
	stepTrim, stepThinkTags, stepDoubleEncoded, stepCodeFence, stepSingleElement, stepFirstObject,
	stepComments, stepTrailingCommas, stepPython, stepSingleQuotes,
}
