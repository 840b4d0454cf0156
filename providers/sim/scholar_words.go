package sim

import "strings"

// role is what a phrase does in a research request.
type role int

// The roles. field, high and n of a term say more where noted.
const (
	roleStrange     role = iota // not in the vocabulary: perhaps a name
	roleIdle                    // understood, and without effect
	roleName                    // a name, a quotation or an id
	roleNumber                  // n
	roleField                   // field
	roleSuperlative             // field if it has one, high
	roleComparative             // field if it has one, high
	roleOrdinal                 // n: second
	roleCompass                 // field is the direction
	roleShore                   // coast
	roleLights                  // lighthouse, n = 2 for several
	roleSum
	roleMean
	roleHowMany
	roleListing
	roleBefore  // <
	roleAfter   // >
	roleAtLeast // >=, also behind the number
	roleAtMost  // <=
	roleWithin  // between
	roleThan
	roleEither // or
	roleBoth   // and, comma
	roleWho
	roleWhich
	rolePronoun // it, they; n = 2 for several
	roleInput   // given
	roleNegated
	roleBy
	roleSame     // the same, whoever
	roleGap      // difference, how much
	roleUnit     // field is what it measures
	roleStop     // ends a sentence or a clause
	roleSeek     // search
	roleOpenText // open, read
	roleMeddling // an act no tool does
)

// term is a phrase with its role.
type term struct {
	role  role
	field string
	high  bool
	n     float64
	text  string // as written
	upper bool   // begins with a capital
}

// The fields that extract reads, and keeper, which only texts tell.
const (
	heightField    = "height_m"
	builtField     = "built"
	rangeField     = "range_nm"
	designerField  = "designer"
	regionField    = "region"
	lampField      = "lamp"
	automatedField = "automated"
	keeperField    = "keeper"
)

// researchWords is the vocabulary: English, and nothing of any library.
var researchWords = map[role][]string{
	roleIdle: {"", `the|a|an|of|is|are|was|were|do|does|did|has|have|had|having|be|been|being|that|this|there|me|us|i|you|we|can|` +
		`could|would|will|should|shall|please|on|in|at|to|with|for|from|about|tell|say|what|when|and also|its|their|how|` +
		`year|years|date|full|name|names|named|called|known|located|stands|stand|situated|found|lie|lies|along|value|` +
		`values|data|record|records|recorded|entry|exact|exactly|go|come|comes|came|get|got|it's|what's|who's|kind|type|` +
		`sort|make|made|much|many|one's|if|then|so|now|just|only|some|any|want|wish|need|like|know|interested|` +
		`like to know|find out|look up|let|ok|okay|hello|hi|thanks|thank|also|question|quick|hey|dear|according|library|` +
		`archive|documents|document|once|back|up|out|off|day|time|long ago|as|whose|work|works|according to|kindly|` +
		`could you|i'd|i'm|here|become|became|becoming|currently|today|still|own|fitted|equipped|together|` +
		`overall|respectively|whole|entire|light's|lighthouse's|answer|request|results|result|step|steps|` +
		`work it out|objective|use|using|them alone|well|sits|sit|number them|put|first of all|coastline of|side|` +
		`feature|features|see|using the tools|tools|ours|my|our|given that|extract|field|read|comparing|light called|` +
		`chosen|following results|does it|nautical|sea|marked|serving|service|state|report|give|provide|show|check|` +
		`determine|calculate|compute|work out|figure out|identify|mention|explain|describe|whether|each|every|all|` +
		`each of|all of|all the|in the year|in the years|century|centuries`},
	roleLights: {"1", `lighthouse|light|tower|beacon|light house|lightstation|station|lighttower`, "2", `lighthouses|lights|towers|beacons|ones|stations|light houses`},
	roleField: {
		heightField, `height_m|height|heights|tall|high|how high|how tall|how many metres|how many meters|how many metres tall|how many meters tall|how many metres high|how many m|tower height`,
		rangeField, `range_nm|range|ranges|reach|reaches|how far|visible|how many nautical miles|how many miles|how many sea miles|shine|shines|carry|carries|be seen|seen|luminous range`,
		builtField, `built|build|constructed|erected|completed|construction|construct|first lit|first be lit|` +
			`first lighted|first light up|lit|be lit|year of construction|year built|building|old|age|ages|` +
			`how old|date from|date back|date back to|dates from|go up|went up|finished|inaugurated|enter service|` +
			`entered service|commissioned|established|raised|light up|kindled|begin to shine|start shining`,
		designerField, `designer|designers|designed|design|designs|architect|architects|engineer|drew the plans for|drew|drawn|planned|drew up|plans|the plans`,
		regionField, `region|regions|which coast|what coast|which shore|which region|what region|where|which part of the coast|whereabouts|which of the coasts|which coasts|on which side`,
		lampField, `lamp|lamps|light source|lens|kind of lamp|type of lamp|burner|optic|what kind of light|what type of light|illuminant`,
		automatedField, `automated|automation|automatic|automate|automatically|unmanned|be automated|go automatic|went automatic|lose its keeper|lost its keepers|lose its keepers|lost its keeper`,
		keeperField, `keeper|keepers|last keeper|last keepers|the last keeper|tended|looks after|looked after`,
	},
	roleSuperlative: {
		heightField + "+", `tallest|loftiest`,
		heightField + "-", `shortest|smallest tower`,
		rangeField + "+", `farthest reaching|furthest reaching|farthest|furthest|most powerful|strongest|brightest|most far reaching`,
		rangeField + "-", `weakest|faintest`,
		builtField + "-", `oldest|most ancient`,
		builtField + "+", `newest|youngest|most recent|most recently|most modern`,
		"+", `highest|greatest|largest|biggest|most|maximum|best|longest|last|latest`,
		"-", `lowest|smallest|least|fewest|minimum|earliest|first|soonest`,
	},
	roleComparative: {
		heightField + "+", `taller|loftier`,
		heightField + "-", `shorter`,
		rangeField + "+", `farther|further|more powerful|brighter|stronger`,
		rangeField + "-", `weaker|fainter|less powerful`,
		builtField + "-", `older`,
		builtField + "+", `newer|younger|more recent|more recently|more modern`,
		"+", `higher|greater|larger|bigger|more|longer|later`,
		"-", `lower|smaller|less|fewer|earlier|sooner`,
	},
	roleOrdinal: {"2", `second`, "3", `third`, "4", `fourth`},
	roleCompass: {"north", `north|northern|northerly`, "south", `south|southern|southerly`, "east", `east|eastern|easterly`, "west", `west|western|westerly`,
		"north-east", `north east|northeast|northeastern|north eastern`, "north-west", `north west|northwest|northwestern|north western`,
		"south-east", `south east|southeast|southeastern|south eastern`, "south-west", `south west|southwest|southwestern|south western`},
	roleShore:   {"", `coast|coasts|shore|shores|coastline|seaboard|side of the coast|part of the coast|waters`},
	roleSum:     {"", `total|sum|sum of|add|in total|add up|added up|altogether|combined|adding|all told`},
	roleMean:    {"", `average|mean|averaged|on average|averages`},
	roleHowMany: {"", `how many|number of|the number of|count|count of|the count of|how numerous|number`},
	roleListing: {"", `list|enumerate|list all|name all|give all`},
	roleBefore:  {"", `before|prior to|under|below|up until`},
	roleAfter:   {"", `after|over|above|exceeding|exceed|exceeds|beyond|past`},
	roleAtLeast: {"", `at least|no less than|not less than|or more|or above|or taller|or longer|or later|since|from at least|a minimum of|or higher|no shorter than|not shorter than`},
	roleAtMost:  {"", `at most|no more than|not more than|or less|or below|or shorter|or fewer|or earlier|up to|not over|a maximum of|no later than|no taller than`},
	roleWithin:  {"", `between|from the years`},
	roleThan:    {"", `than|compared to|compared with`},
	roleEither:  {"", `or|versus|vs|against`},
	roleBoth:    {"", `and|,|&|plus|as well as|both`},
	roleWho:     {"", `who|whom`},
	roleWhich:   {"", `which|which one|which of these|which of the two|what are`},
	rolePronoun: {"1", `it|that one|this one|the same one|that lighthouse|that light|this light|this lighthouse|` +
		`the same light|the same lighthouse|that tower|this tower`, "2", `they|them|those|these|these lights|those lights|these lighthouses|those lighthouses|both of them|all of them`},
	roleInput: {"", `given|provided|supplied|listed|inputs|input|lights given|lighthouses given|following|attached|` +
		`handed over|lights listed|lighthouses listed|given lights|given lighthouses|listed lights`},
	roleNegated:  {"", `not|never|no|without|neither|isn't|aren't|hasn't|haven't|yet to|missing|lack|lacks|unrecorded`},
	roleBy:       {"", `by`},
	roleSame:     {"", `same|whoever|person|the man|the woman|someone`},
	roleGap:      {"", `difference|differ|how much|by how much|gap|differences|difference between`},
	roleUnit:     {heightField, `metres|meters|metre|meter|m|metres tall|meters tall`, rangeField, `nautical miles|sea miles|miles|mile|nautical mile|nm`},
	roleStop:     {"", `.|?|!|;|:|(|)`},
	roleSeek:     {"", `search|find`},
	roleOpenText: {"", `open|text of|according to its text`},
	roleMeddling: {"", `delete|remove|rename|demolish|email|send|update|rebuild|repaint|book|overwrite|forget`},
}

// researchLexicon maps phrases to terms; each stands in the vocabulary once.
var researchLexicon = compileResearch()

func compileResearch() map[string]term {
	out := map[string]term{}
	for r, table := range researchWords {
		for i := 0; i+1 < len(table); i += 2 {
			t := term{role: r, n: float64(atoi(table[i]))}
			if t.n == 0 {
				t.field = strings.TrimRight(table[i], "+-")
				t.high = strings.HasSuffix(table[i], "+")
			}
			for phrase := range strings.SplitSeq(table[i+1], "|") {
				out[phrase] = t
			}
		}
	}
	return out
}

// numberWords are the numbers people write out.
var numberWords = map[string]float64{
	"one": 1, "two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "seven": 7, "eight": 8, "nine": 9, "ten": 10,
	"twelve": 12, "fifteen": 15, "twenty": 20, "thirty": 30, "forty": 40, "fifty": 50, "sixty": 60,
}
