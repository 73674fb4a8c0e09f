-- Wireshark dissector of the ABR service of ATM: RM cells, OAM cells, and the AAL5 PDUs that cells make up.
--
-- It looks at cells in ERF records (link type 197, type 3), as cellrate writes them, and at cells after RFC 4717, N to one
-- with control word, in MPLS in UDP (RFC 7510, port 6635). What Wireshark says of a frame by itself stays.
--
-- Fields: abr.*, one for each field of an RM cell (TM 4.0, table 5-4), rates in cells/s; oam.*, those of an OAM cell (I.610),
-- of loopback cells all; cell.*, the header of every cell;
-- cell.aal5.*, the PDU that a cell ends. So that `abr.er < 100000` and `abr.ci == 1 && cell.vci == 33` are filters.

local PAYLOAD = 48
local HEADER = 4            -- without the HEC
local CELL = HEADER + PAYLOAD
local RM = 6                -- payload type of RM cells of VCs
local LONGEST_PDU = 65568   -- 65535 and 8 of trailer, in whole cells

local cell = Proto("cell", "ATM cell")
local abr = Proto("abr", "ATM ABR RM cell")
local oam = Proto("oam", "ATM OAM cell")

local payload_types = {
    [0] = "user data", [1] = "user data, end of PDU",
    [2] = "user data, EFCI", [3] = "user data, EFCI, end of PDU",
    [4] = "OAM of a segment", [5] = "OAM end to end", [6] = "resource management", [7] = "reserved",
}
local ways = { [0] = "forward", [1] = "backward" }
local sources = { [0] = "the source", [1] = "a switch or the destination (BECN)" }

local c = {
    vpi = ProtoField.uint16("cell.vpi", "VPI"),
    vci = ProtoField.uint16("cell.vci", "VCI"),
    pti = ProtoField.uint8("cell.pti", "Payload type", base.DEC, payload_types),
    efci = ProtoField.bool("cell.efci", "EFCI", base.NONE, nil, nil, "A switch on the way was congested"),
    clp = ProtoField.bool("cell.clp", "CLP"),
    cells = ProtoField.uint16("cell.aal5.cells", "Cells", base.DEC, nil, nil, "Cells of the PDU that this cell ends"),
    length = ProtoField.uint16("cell.aal5.length", "Length", base.DEC, nil, nil, "Octets of the SDU, as the trailer has it"),
    intact = ProtoField.bool("cell.aal5.crc_ok", "CRC-32 correct"),
}
cell.fields = { c.vpi, c.vci, c.pti, c.efci, c.clp, c.cells, c.length, c.intact }

local f = {
    id = ProtoField.uint8("abr.id", "Protocol ID", base.DEC, { [1] = "ABR" }),
    dir = ProtoField.uint8("abr.dir", "DIR", base.DEC, ways),
    bn = ProtoField.uint8("abr.bn", "BN", base.DEC, sources, nil, "Who made the cell"),
    ci = ProtoField.uint8("abr.ci", "CI", base.DEC, nil, nil, "Congestion indication: the source must decrease"),
    ni = ProtoField.uint8("abr.ni", "NI", base.DEC, nil, nil, "No increase"),
    ra = ProtoField.uint8("abr.ra", "RA", base.DEC, nil, nil, "Request/acknowledge (I.371)"),
    er = ProtoField.double("abr.er", "ER", base.NONE, nil, nil, "Explicit rate [cells/s]"),
    ccr = ProtoField.double("abr.ccr", "CCR", base.NONE, nil, nil, "Current cell rate [cells/s]"),
    mcr = ProtoField.double("abr.mcr", "MCR", base.NONE, nil, nil, "Minimum cell rate [cells/s]"),
    ql = ProtoField.uint32("abr.ql", "QL", base.DEC, nil, nil, "Queue length (I.371)"),
    sn = ProtoField.uint32("abr.sn", "SN", base.DEC, nil, nil, "Sequence number (I.371)"),
    crc = ProtoField.uint16("abr.crc10", "CRC-10", base.HEX),
    intact = ProtoField.bool("abr.crc10_ok", "CRC-10 correct"),
    out_of_rate = ProtoField.bool("abr.out_of_rate", "Out of rate", base.NONE, nil, nil, "CLP = 1"),
}
abr.fields = { f.id, f.dir, f.bn, f.ci, f.ni, f.ra, f.er, f.ccr, f.mcr, f.ql, f.sn, f.crc, f.intact, f.out_of_rate }

local oam_types = { [1] = "fault management", [2] = "performance management", [8] = "activation", [15] = "system management" }
local o = {
    flow = ProtoField.string("oam.flow", "Flow", base.NONE, "F4 of a virtual path or F5 of a virtual channel"),
    type = ProtoField.uint8("oam.type", "OAM type", base.DEC, oam_types),
    func = ProtoField.uint8("oam.function", "Function type", base.DEC),
    request = ProtoField.bool("oam.loopback.request", "Loopback indication", base.NONE, nil, nil, "To be looped back"),
    tag = ProtoField.uint32("oam.loopback.tag", "Correlation tag", base.DEC),
    location = ProtoField.bytes("oam.loopback.location", "Loopback location ID", base.NONE, "All ones: the end point"),
    source = ProtoField.bytes("oam.loopback.source", "Source ID"),
    crc = ProtoField.uint16("oam.crc10", "CRC-10", base.HEX),
    intact = ProtoField.bool("oam.crc10_ok", "CRC-10 correct"),
}
oam.fields = { o.flow, o.type, o.func, o.request, o.tag, o.location, o.source, o.crc, o.intact }
local oam_damaged = ProtoExpert.new("oam.crc10.bad", "CRC-10 is wrong: the cell is to be discarded",
    expert.group.CHECKSUM, expert.severity.ERROR)
oam.experts = { oam_damaged }
local damaged = ProtoExpert.new("abr.crc10.bad", "CRC-10 is wrong: the cell is to be discarded",
    expert.group.CHECKSUM, expert.severity.ERROR)
abr.experts = { damaged }
local spoiled = ProtoExpert.new("cell.aal5.bad", "The PDU is spoiled: cells are missing or damaged",
    expert.group.CHECKSUM, expert.severity.WARN)
cell.experts = { spoiled }

abr.prefs.reassemble = Pref.bool("Reassemble AAL5", true, "Put the PDUs of user cells together and dissect them")
abr.prefs.port = Pref.uint("UDP port of MPLS", 6635, "Where cells after RFC 4717 are looked for")

-- Fields of others, to see what kind of frame this is.
local erf_type = Field.new("erf.types.type")
local udp_source = Field.new("udp.srcport")
local udp_destination = Field.new("udp.dstport")
local udp_length = Field.new("udp.length")
local interface = Field.new("frame.interface_id")

local bits = bit or bit32
local bxor, lshift, rshift, band = bits.bxor, bits.lshift, bits.rshift, bits.band

-- CRC-10 of I.610: x^10 + x^9 + x^5 + x^4 + x + 1, zero over a payload that ends in its own.
local crc10_table = {}
for octet = 0, 255 do
    local crc = octet * 4
    for _ = 1, 8 do
        crc = lshift(crc, 1)
        if band(crc, 0x400) ~= 0 then crc = bxor(crc, 0x633) end
    end
    crc10_table[octet] = crc
end

local function crc10_remainder(payload)
    local remainder = 0
    for at = 0, PAYLOAD - 1 do
        remainder = bxor(band(lshift(remainder, 8), 0x3ff), payload:get_index(at), crc10_table[rshift(remainder, 2)])
    end
    return remainder
end

-- CRC-32 of I.363.5: most significant bit first, all ones at first, complemented at the end.
local crc32_table = {}
for octet = 0, 255 do
    local crc = lshift(octet, 24)
    for _ = 1, 8 do
        local carry = band(crc, 0x80000000) ~= 0
        crc = lshift(crc, 1)
        if carry then crc = bxor(crc, 0x04c11db7) end
    end
    crc32_table[octet] = band(crc, 0xffffffff)
end

local function crc32_is_right(pdu)
    local crc = 0xffffffff
    for at = 0, pdu:len() - 1 do
        crc = bxor(lshift(crc, 8), crc32_table[bxor(band(rshift(crc, 24), 0xff), pdu:get_index(at))])
    end
    return band(crc, 0xffffffff) == band(0xc704dd7b, 0xffffffff)
end

-- The 16-bit rate of RM cells: one reserved bit, nz, five bits of exponent, nine of mantissa.
local function rate(range)
    if range:bitfield(1, 1) == 0 then return 0 end
    return 2 ^ range:bitfield(2, 5) * (1 + range:bitfield(7, 9) / 512)
end

local function cells_per_s(value)
    return string.format("%.6g cells/s", value)
end

local function dissect_rm(payload, clp, pinfo, tree)
    local flags = payload(1, 1)
    local er, ccr, mcr = rate(payload(2, 2)), rate(payload(4, 2)), rate(payload(6, 2))
    local dir, ci, ni = flags:bitfield(0, 1), flags:bitfield(2, 1), flags:bitfield(3, 1)
    local marks = (ci == 1 and " CI" or "") .. (ni == 1 and " NI" or "")
    local text = string.format("%s RM, ER %s, CCR %s%s", dir == 0 and "Forward" or "Backward", cells_per_s(er),
        cells_per_s(ccr), marks)
    local at = tree:add(abr, payload, "ABR: " .. text)
    at:add(f.id, payload(0, 1))
    at:add(f.dir, flags, dir)
    at:add(f.bn, flags, flags:bitfield(1, 1))
    at:add(f.ci, flags, ci)
    at:add(f.ni, flags, ni)
    at:add(f.ra, flags, flags:bitfield(4, 1))
    at:add(f.er, payload(2, 2), er):append_text(" cells/s")
    at:add(f.ccr, payload(4, 2), ccr):append_text(" cells/s")
    at:add(f.mcr, payload(6, 2), mcr):append_text(" cells/s")
    at:add(f.ql, payload(8, 4))
    at:add(f.sn, payload(12, 4))
    at:add(f.out_of_rate, payload(1, 1), clp == 1):set_generated()
    local intact = crc10_remainder(payload:bytes()) == 0
    local crc = at:add(f.crc, payload(46, 2), payload(46, 2):bitfield(6, 10))
    crc:append_text(intact and " (correct)" or " (incorrect)")
    at:add(f.intact, payload(46, 2), intact):set_generated()
    if not intact then at:add_proto_expert_info(damaged) end
    return text .. (intact and "" or " [CRC-10 incorrect]")
end

-- The flow of an OAM cell by its payload type and VCI, or nil if it is none.
local function oam_flow(pti, vci)
    if pti == 4 then return "F5 segment" end
    if pti == 5 then return "F5 end to end" end
    if pti < 4 and vci == 3 then return "F4 segment" end
    if pti < 4 and vci == 4 then return "F4 end to end" end
    return nil
end

-- Names of functions by OAM type and function type.
local oam_functions = {
    [0x10] = "AIS", [0x11] = "RDI", [0x14] = "continuity check", [0x18] = "loopback",
    [0x20] = "forward monitoring", [0x21] = "backward reporting",
    [0x80] = "activation of performance monitoring", [0x81] = "activation of continuity check",
}

local function dissect_oam(payload, flow, tree)
    local kind = payload(0, 1):uint()
    local text = flow .. " " .. (oam_functions[kind] or string.format("OAM 0x%02x", kind))
    local is_request = band(payload(1, 1):uint(), 1) == 1
    if kind == 0x18 then
        text = text .. (is_request and " request" or " reply") .. ", tag " .. payload(2, 4):uint()
    end
    local at = tree:add(oam, payload, "OAM: " .. text)
    at:add(o.flow, payload(0, 1), flow):set_generated()
    at:add(o.type, payload(0, 1), payload(0, 1):bitfield(0, 4))
    at:add(o.func, payload(0, 1), payload(0, 1):bitfield(4, 4))
    if kind == 0x18 then
        at:add(o.request, payload(1, 1), is_request)
        at:add(o.tag, payload(2, 4))
        at:add(o.location, payload(6, 16))
        at:add(o.source, payload(22, 16))
    end
    local intact = crc10_remainder(payload:bytes()) == 0
    local crc = at:add(o.crc, payload(46, 2), payload(46, 2):bitfield(6, 10))
    crc:append_text(intact and " (correct)" or " (incorrect)")
    at:add(o.intact, payload(46, 2), intact):set_generated()
    if not intact then at:add_proto_expert_info(oam_damaged) end
    return text .. (intact and "" or " [CRC-10 incorrect]")
end

-- Reassembly: what has come of each VC on each interface, and the PDU that each cell ended, by frame and place in it.
-- Frames are seen in order the first time only, so it happens then.
local vcs, ended = {}, {}
function abr.init()
    vcs, ended = {}, {}
end

local function collect(vc, last, payload)
    local pieces = vcs[vc]
    if not pieces then
        pieces = { octets = 0 }
        vcs[vc] = pieces
    end
    pieces[#pieces + 1] = payload:bytes():raw()
    pieces.octets = pieces.octets + PAYLOAD
    if not last then
        -- Longer than any PDU may be: what is kept would only grow.
        if pieces.octets > LONGEST_PDU then vcs[vc] = nil end
        return nil
    end
    vcs[vc] = nil
    return ByteArray.new(table.concat(pieces), true)
end

local function dissect_pdu(pdu, pinfo, root, tree)
    local whole = pdu:tvb("AAL5 PDU")
    local octets = pdu:len()
    local length = whole(octets - 6, 2):uint()
    local intact = crc32_is_right(pdu) and length > 0 and length + 8 <= octets and octets - length - 8 < PAYLOAD
    local at = tree:add(cell, whole(), "AAL5 PDU of " .. octets / PAYLOAD .. " cells, CRC-32 "
        .. (intact and "correct" or "incorrect"))
    at:add(c.cells, whole(), octets / PAYLOAD):set_generated()
    at:add(c.length, whole(octets - 6, 2))
    at:add(c.intact, whole(octets - 4, 4), intact):set_generated()
    if not intact then
        at:add_proto_expert_info(spoiled)
        return "AAL5 PDU spoiled"
    end
    local sdu = whole(0, length):tvb()
    if length >= 8 and whole(0, 2):uint() == 0xaaaa then
        Dissector.get("llc"):call(sdu, pinfo, root)
        return nil
    elseif length >= 20 and whole(0, 1):bitfield(0, 4) == 4 then
        Dissector.get("ip"):call(sdu, pinfo, root)
        return nil
    end
    return "AAL5 SDU of " .. length .. " octets"
end

local function dissect_cell(range, number, pinfo, root)
    local header, payload = range(0, HEADER), range(HEADER, PAYLOAD)
    -- Twelve bits of VPI, as at an NNI: GFC is zero where nobody uses it.
    local vpi, vci = header:bitfield(0, 12), header:bitfield(12, 16)
    local pti, clp = header:bitfield(28, 3), header:bitfield(31, 1)
    local tree = root:add(cell, range, string.format("ATM cell, VPI %d, VCI %d, %s", vpi, vci, payload_types[pti]))
    tree:add(c.vpi, header(0, 2), vpi)
    tree:add(c.vci, header(1, 3), vci)
    tree:add(c.pti, header(3, 1), pti)
    if pti < 4 then tree:add(c.efci, header(3, 1), pti >= 2) end
    tree:add(c.clp, header(3, 1), clp == 1)
    local flow = oam_flow(pti, vci)
    if pti == RM then
        return "ABR", dissect_rm(payload, clp, pinfo, root)
    elseif flow then
        return "OAM", dissect_oam(payload, flow, root)
    elseif pti < 4 and abr.prefs.reassemble then
        local key = pinfo.number .. "/" .. number
        local last = pti % 2 == 1
        if not pinfo.visited then
            local port = interface()
            local vc = (port and tostring(port.value) or "") .. "/" .. vpi .. "/" .. vci
            ended[key] = collect(vc, last, payload)
        end
        if last and ended[key] then
            return "AAL5", dissect_pdu(ended[key], pinfo, root, tree)
        end
    end
    return "ATM", payload_types[pti]:gsub("^%l", string.upper)
end

-- Where the cells begin in an RFC 4717 datagram (N to one, with control word), or nil if it is none.
local function cells_of_datagram(tvb)
    local source, destination, length = udp_source(), udp_destination(), udp_length()
    if not source or (source.value ~= abr.prefs.port and destination.value ~= abr.prefs.port) then return nil end
    local at = length.offset + 4
    local stop = at + length.value - 8
    if stop > tvb:len() then return nil end
    local bottom = false
    while not bottom do
        if at + 4 > stop then return nil end
        bottom = tvb(at, 4):bitfield(23, 1) == 1
        at = at + 4
    end
    -- The first four bits of a control word are zero.
    if at + 4 > stop or tvb(at, 1):bitfield(0, 4) ~= 0 then return nil end
    at = at + 4
    if stop == at or (stop - at) % CELL ~= 0 then return nil end
    return at, (stop - at) / CELL
end

function abr.dissector(tvb, pinfo, root)
    local kind = erf_type()
    local at, count = 0, 0
    if kind and kind.value == 3 and tvb:len() >= CELL then
        count = 1
    elseif udp_source() then
        at, count = cells_of_datagram(tvb)
    end
    if not at or count == 0 then return end
    local protocol, info = nil, {}
    for number = 0, count - 1 do
        local one, text = dissect_cell(tvb(at + number * CELL, CELL), number, pinfo, root)
        protocol = (protocol == nil or protocol == one) and one or "ATM"
        if text then info[#info + 1] = text end
    end
    -- A PDU that holds a packet leaves the columns to the packet.
    if #info > 0 then
        pinfo.cols.protocol = protocol
        pinfo.cols.info = table.concat(info, "; ")
    end
end

register_postdissector(abr)
