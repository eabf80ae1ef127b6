package client

import (
	"regexp"
	"slices"
	"strings"

	"sync"
	"transect/client/fault"
	"transect/client/suggest"
)

// IconTexts returns the text on the wire for each icon's name.
func IconTexts() map[string]string {
	texts := map[string]string{}
	for _, name := range icons {
		texts[name], _ = IconText(name) // every name has a text
	}
	return texts
}

// Icons lists the names of the icons point annotations can have. On the wire
// an icon is a text, which IconText gives.
func Icons() []string { return slices.Clone(icons) }

var icons = []string{
	"ANNOTATE", "ARROW1", "ARROW2", "ARROW3", "ARROW4", "ARROW5", "ARTICULATEDTRUCK", "BULLDOZER", "CANCEL", "CHECK",
	"COG", "COLLISION", "CONVEYOR", "CROSSROADS", "CROSSROADSUS", "CRUSHER", "DANGER", "DEF", "DIESELFUEL", "DRAGLINE",
	"DRILLS", "DROWNINGRISK", "DUMPER", "DUMPTOPROCESS", "DUSTHAZARD", "DYNAMITE", "EARPROTECTION", "ELECTRICALRISK",
	"ELECTRICGENERATOR", "ENROCHMENTS", "EXCAVATOR", "FALLFROMHEIGHTS", "FIREFIGHTERS", "FLAGGREEN", "FLAGORANGE",
	"FLAGRED", "FLOODRISK", "FOG", "GLOVES", "GRAVILLONS", "HOLE", "IMPACTCRUSHER", "INFORMATION", "ISSUE", "LABSAMPLE",
	"LIFEJACKET", "MEETINGPOINT", "MOTORGRADER", "NATURALSURROUNDINGS", "NOENTRY", "NOISEMESURMENT", "ONEWAY", "PARKING",
	"PERSONALPROTECTIVE", "PRIORITY1", "PRIORITY10", "PRIORITY2", "PRIORITY3", "PRIORITY4", "PRIORITY5", "PRIORITY6",
	"PRIORITY7", "PRIORITY8", "PRIORITY9", "PRIORITYLEFT", "PRIORITYRIGHT", "PROTECTIONMASK", "RAILROADCROSSING",
	"RAILS", "ROCKFALLS", "ROUNDABOUT", "SABLE", "SAFETYGLASSES", "SCRAPER", "SETTLINGPONT", "SILO", "SISMOGRAPH",
	"SLIPPERY", "SLOPE", "SLOPE2", "SPEEDLIMIT10", "SPEEDLIMIT20", "SPEEDLIMIT30", "SPEEDLIMITUS10", "SPEEDLIMITUS15",
	"SPEEDLIMITUS20", "STATIONERYCONE", "STOCKPILE", "STOCKPILES", "STOP", "TRAFFICACCIDENT", "TRAIN", "TREES",
	"TURNLEFT", "TURNRIGHT", "TWOWAYS", "TWOWAYSPRIORITY", "VALVE", "WATER", "WATERDISCHARGE", "WATERPUMP", "WATERTRUCK",
	"WHEELEDEXCAVATOR", "WIRES", "WRENCH",
}

// The wire's text of an icon is this prefix and its name in lower case, but
// that a country stays in capitals.
const iconPrefix = "delair::icon::"

var (
	iconOfCountry = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^(CROSSROADS|SPEEDLIMIT)US(\d*)$`) })
	iconLike      = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[A-Z][A-Z0-9_]*$`) })
)

// IconText returns an icon's text on the wire. Text in capitals must be one of Icons, else it is a
// *fault.ParameterError; any other text comes back as it is.
func IconText(icon string) (string, error) {
	switch {
	case slices.Contains(icons, icon):
		if part := iconOfCountry().FindStringSubmatch(icon); part != nil {
			return iconPrefix + strings.ToLower(part[1]) + "US" + part[2], nil
		}
		return iconPrefix + strings.ToLower(icon), nil
	case !iconLike().MatchString(icon):
		return icon, nil
	}
	f := fault.Of(&fault.ParameterError{}, "argument icon: there is no icon %s", icon)
	f.Hint = suggest.Hint(icon, icons)
	if f.Hint == "" {
		f.Hint = "there are " + strings.Join(icons[:4], ", ") + " and " + icons[len(icons)-1] + " among others"
	}
	return "", f
}

// putIcon replaces an icon's name in a body by its text.
func putIcon(body map[string]any) error {
	name, ok := body["icon"].(string)
	if !ok {
		return nil
	}
	text, err := IconText(name)
	body["icon"] = text
	return err
}
