package search

import "strings"

// grammar holds words that say nothing about what is asked for: they are left out of
// queries. Neither these nor those of asking are chosen by any set of queries.
var grammar = wordSet(`
	a an the this that these those it its he she they him his her hers their theirs them i me my mine we us our ours you your yours
	myself yourself himself herself itself ourselves themselves
	and or but nor so if then than as of at by for with without within about into onto through throughout to from in on up down off out over
	under again further between among across during before after above below against upon toward towards per via until till since while
	because although though however therefore thus hence whether unless either neither both else instead rather
	am is are was were be been being have has had having do does did doing done will would shall should can cannot could may might must ought
	don doesn didn isn aren wasn weren won couldn shouldn wouldn hasn haven hadn ain
	not no yes ok okay what whatever which who whom whose when where why how there here all any each every few more most other others
	another some such only own same too very just also even still yet already once ever never always often sometimes usually soon now
	one ones etc eg ie
`)

// asking holds words that any request may hold. They are left out of queries too,
// but where they say what a tool does (synonyms) or stand in the name of one: get_build,
// list_types.
var asking = wordSet(`
	want wants wanted wanting need needs needed needing like likes liked love help helps helped helping please kindly assist assists assisting
	assistance provide provides provided providing give gives gave given giving tell tells told telling know knows known knowing let lets
	look looks looked looking seek seeks seeking interest interested interesting wonder wondering curious try tries tried trying able
	possible possibly ask asks asked asking request requesting wish hope hoping
	hi hello hey dear thanks thank sorry
	recommend recommends suggest suggests suggestion suggestions advise advice believe think thinking thought feel feels understand
	make makes made making sure ensure get gets got getting go goes went going gone come comes came coming
	use uses used using show shows showing find finds finding
	something anything nothing everything someone anyone everyone somebody anybody thing things stuff way ways kind kinds sort type types lot lots
	much many several various different certain specific specifically particular particularly including include includes included
	regarding concerning related relevant based available preferably maybe perhaps really quite actually currently exactly especially
	highly effectively easily quickly simply well
	good better best great nice fine perfect right important
`)

// synonyms are groups of words that say the same of what a tool of a REST API
// does. They are the field's, not those of one API or language of business.
var synonyms = synonymTable(`
	create add new make insert register
	delete remove erase destroy drop
	update edit modify change set patch alter
	get fetch retrieve read view show
	list enumerate browse
	get list find show
	search find lookup query
	send post submit publish
	start run launch trigger execute queue
	retry rerun restart repeat
	stop cancel abort terminate
	upload attach
	download export
	copy duplicate clone
	rename move
	enable activate
	disable deactivate
`)

// lookup is what is needed first where a query names something that the catalog
// does not know.
const lookup = "search"

func wordSet(s string) map[string]bool {
	set := map[string]bool{}
	for _, w := range strings.Fields(s) {
		set[w] = true
	}
	return set
}

// synonymTable gives the stems that each stem shares a line with, one of two lines
// those of both.
func synonymTable(s string) map[string][]string {
	stem := newStemmer()
	table := map[string][]string{}
	for line := range strings.Lines(s) {
		group := strings.Fields(line)
		for _, a := range group {
			for _, b := range group {
				if a != b {
					table[stem.stem(a)] = append(table[stem.stem(a)], stem.stem(b))
				}
			}
		}
	}
	return table
}
