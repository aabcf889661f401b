package kernel

// An object of an exclusive class has one call at a time: a second one is refused, instead of a data race.

// takeObjects makes the call the user of the exclusive objects among its arguments, or returns a RuntimeError if another call
// uses one.
func (c *Call) takeObjects() error {
	for i := range c.fn.plan.params {
		s := &c.fn.plan.params[i]
		if s.isExclusive() {
			if err := c.takeObject(c.what(i), objects.at(c.cell(i))); err != nil {
				return err
			}
		}
		if s.elem != nil && s.elem.isExclusive() {
			list := c.elements(i)
			for k := range list.Len() {
				if err := c.takeObject(c.what(i), objects.at(list.At(k))); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

func (s *slot) isExclusive() bool {
	for _, class := range s.classes {
		if class.Exclusive {
			return true
		}
	}
	return false
}

// what names argument i in error texts.
func (c *Call) what(i int) string { return "argument '" + c.fn.Params[i].Name + "'" }

// takeObject makes the call the user of one object, also if it is that already.
func (c *Call) takeObject(what string, e *entry) error {
	if e.class == nil || !e.class.Exclusive || e.user.Load() == c {
		return nil
	}
	if !e.user.CompareAndSwap(nil, c) {
		return Errorf(RuntimeError, "%s(): %s: another call uses this %s: its calls come one at a time; "+
			"guard it by a threading.Lock, or give each thread an object of its own", c.fn.label(), what, e.class.Name)
	}
	c.used = append(c.used, e)
	return nil
}

// giveObjects ends the use of objects. An entry that was released meanwhile may have another user.
func (c *Call) giveObjects() {
	for _, e := range c.used {
		e.user.CompareAndSwap(c, nil)
	}
	c.used = c.used[:0]
}
